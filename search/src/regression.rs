//! The Gaussian process of the model-based search as a separate regression, for analysing results.

use crate::SpaceView;
use crate::model::{Encoder, Extension, FeaturePoint, Settings, Shape};

/// The Gaussian process of the model-based search, fitted once to the costs of some configs.
///
/// ```
/// use kiln_search::{Regression, SpaceView};
///
/// /// Page sizes of a cache, of which every one is allowed.
/// struct Pages;
/// impl SpaceView for Pages {
///     fn len(&self) -> usize {
///         8
///     }
///     fn value_counts(&self) -> &[u32] {
///         &[8]
///     }
///     fn is_ordinal(&self, _: usize) -> bool {
///         true
///     }
///     fn positions(&self, index: usize) -> Vec<u32> {
///         vec![index as u32]
///     }
///     fn index_of(&self, positions: &[u32]) -> Option<usize> {
///         (positions[0] < 8).then_some(positions[0] as usize)
///     }
/// }
///
/// let seen: Vec<Vec<u32>> = [0, 1, 2, 4, 5, 7].map(|page| vec![page]).to_vec();
/// let costs: Vec<f64> = seen.iter().map(|page| f64::from(page[0])).collect();
/// let model = Regression::fit(&Pages, &seen, &costs);
/// assert!((model.expected(&[3]) - 3.0).abs() < 0.3);
/// ```
#[derive(Clone, Debug)]
pub struct Regression {
    encoder: Encoder,
    /// `None` if all costs are equal, or if the fit failed. The prediction is then `mean`.
    model: Option<Extension>,
    mean: f64,
}

impl Regression {
    /// Fits the model to configs and their costs. A config is a vector of positions (see [`SpaceView`]). Costs are
    /// usually logarithms of times.
    pub fn fit(space: &dyn SpaceView, configs: &[Vec<u32>], costs: &[f64]) -> Regression {
        let settings = Settings::default();
        let encoder = Encoder::new(space, &settings);
        let point = |config: &Vec<u32>| FeaturePoint {
            codes: encoder.encode(config),
            trends: Vec::new(),
        };
        let points = configs.iter().map(point).collect();
        let start = Shape::prior(&encoder, 0, settings.noise, &settings);
        Regression {
            model: Extension::new(&encoder, &start, points, costs, &settings),
            mean: costs.iter().sum::<f64>() / costs.len().max(1) as f64,
            encoder,
        }
    }

    /// The predicted cost of a config, which is a vector of positions.
    pub fn expected(&self, config: &[u32]) -> f64 {
        let codes = self.encoder.encode(config);
        let model = self.model.as_ref();
        model.map_or(self.mean, |model| model.expected(&codes))
    }
}
