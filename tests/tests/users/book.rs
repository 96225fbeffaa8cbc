//! Checks the documentation: it builds as a book, contains every page, and has no dead links.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use kiln_tests::command::workspace;
use mdbook_driver::MDBook;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// The links and the anchors of a page.
#[derive(Default)]
struct Page {
    links: Vec<String>,
    anchors: BTreeSet<String>,
}

fn page(path: &Path) -> Page {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut page = Page::default();
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(&text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                page.links.push(dest_url.into_string());
            }
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let anchor = anchor(&heading.take().unwrap_or_default());
                page.anchors.insert(anchor);
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            _ => {}
        }
    }
    page
}

/// The anchor of a heading, as GitHub and mdBook generate it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn in_folder(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(workspace().join(folder)).expect("the folder should be there");
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut pages: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect();
    pages.sort();
    pages
}

#[test]
fn the_book_builds_and_holds_every_page() {
    let out = tempfile::tempdir().expect("a temporary directory should be had");
    let mut book = MDBook::load(workspace()).expect("book.toml should load");
    book.config.build.build_dir = out.path().to_owned();
    book.build().expect("the book should build");
    for path in in_folder("docs") {
        let name = path.file_stem().expect("a page has a name");
        if name == "SUMMARY" {
            continue;
        }
        let built = out.path().join(name).with_extension("html");
        assert!(built.is_file(), "{} is not in SUMMARY.md", path.display());
    }
}

#[test]
fn every_link_leads_to_a_file_and_a_heading_that_are_there() {
    let mut pages = in_folder(".");
    pages.extend(in_folder("docs"));
    pages.extend(in_folder("examples"));
    pages.extend(in_folder("search"));
    let mut checked = 0;
    for path in &pages {
        let this = page(path);
        for link in &this.links {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let shown = path.display();
            let (file, fragment) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => path.clone(),
                file => path.parent().expect("a page is in a folder").join(file),
            };
            assert!(target.exists(), "{shown}: `{link}` leads nowhere");
            let is_page = target.extension().is_some_and(|end| end == "md");
            if !fragment.is_empty() && is_page {
                let anchors = page(&target).anchors;
                assert!(
                    anchors.contains(fragment),
                    "{shown}: `{link}` names no heading of {anchors:?}"
                );
            }
            checked += 1;
        }
    }
    assert!(checked > 200, "only {checked} links were found");
}

#[test]
fn a_newcomers_questions_are_one_page_each_within_two_clicks_of_the_readme() {
    let root = workspace();
    let near = |links: &[String], folder: &Path| -> BTreeSet<PathBuf> {
        let files = links.iter().filter_map(|link| link.split('#').next());
        let files = files.filter(|file| file.ends_with(".md"));
        let paths = files.filter_map(|file| fs::canonicalize(folder.join(file)).ok());
        paths.collect()
    };
    let first = near(&page(&root.join("README.md")).links, &root);
    let mut reached = first.clone();
    for path in &first {
        let folder = path.parent().expect("a page is in a folder");
        reached.extend(near(&page(path).links, folder));
    }
    for answer in [
        "install",
        "tune-your-kernel",
        "add-a-gpu",
        "report",
        "ci",
        "interop",
        "proof",
        "baked-rows",
        "adding-a-backend",
    ] {
        let page = root.join("docs").join(answer).with_extension("md");
        let page = fs::canonicalize(page).unwrap_or_else(|error| panic!("{answer}: {error}"));
        assert!(reached.contains(&page), "{answer} is too far from README");
    }
}
