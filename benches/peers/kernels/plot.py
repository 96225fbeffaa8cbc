"""A plot of speed-ups with their intervals, on a logarithmic axis, as SVG."""

import math
from html import escape

# Colours that people with any colour vision tell apart (Okabe and Ito).
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"]
RIGHT, TOP, LINE = 40, 70, 20
# What a letter of a label takes, at most, in the mean.
LETTER = 6.7


def ticks(low, high):
    """1, 2 and 5 times powers of ten between two numbers."""
    found = [m * 10.0**e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1) for m in (1, 2, 5)]
    return [tick for tick in found if low <= tick <= high]


def plot(rows, axis=620):
    """`rows` are (label, peer, speed-up, low, high); low and high may be missing. The axis is so wide; labels get what they take."""
    labels = list(dict.fromkeys(row[0] for row in rows))
    peers = list(dict.fromkeys(row[1] for row in rows))
    left = round(16 + LETTER * max((len(label) for label in labels), default=0))
    width = left + axis + RIGHT
    ends = [1.0] + [end for row in rows for end in row[2:] if end]
    low, high = min(ends) / 1.2, max(ends) * 1.2
    height = TOP + LINE * len(labels) + 50

    def x(value):
        return left + axis * math.log(value / low) / math.log(high / low)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{left}" y="20" font-size="14">How many times as fast as each peer (95 % intervals, logarithmic)</text>',
    ]
    for place, peer in enumerate(peers):
        at = left + place * 290
        out.append(f'<circle cx="{at + 5}" cy="40" r="4" fill="{COLOURS[place % len(COLOURS)]}"/>')
        out.append(f'<text x="{at + 14}" y="44">{escape(peer[:44])}</text>')
    bottom = TOP + LINE * len(labels)
    for tick in ticks(low, high):
        dark = "#000" if tick == 1 else "#ddd"
        out.append(f'<line x1="{x(tick):.1f}" y1="{TOP - 8}" x2="{x(tick):.1f}" y2="{bottom}" stroke="{dark}"/>')
        out.append(f'<text x="{x(tick):.1f}" y="{bottom + 16}" text-anchor="middle">{tick:g}x</text>')
    for place, label in enumerate(labels):
        y = TOP + LINE * place + 8
        out.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{escape(label)}</text>')
        own = [row for row in rows if row[0] == label]
        for _, peer, speedup, least, most in own:
            which = peers.index(peer)
            at, colour = y + 5 * (which - (len(peers) - 1) / 2), COLOURS[which % len(COLOURS)]
            if least and most:
                out.append(f'<line x1="{x(least):.1f}" y1="{at}" x2="{x(most):.1f}" y2="{at}" stroke="{colour}" stroke-width="2"/>')
            out.append(f'<circle cx="{x(speedup):.1f}" cy="{at}" r="3.5" fill="{colour}"><title>{speedup:.2f}x {escape(peer)}</title></circle>')
    return "\n".join([*out, "</svg>", ""])
