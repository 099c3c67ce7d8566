"""Makes the fonts of the window from Inter and JetBrains Mono (both under the Open Font License).

    pip install fonttools brotli
    python3 scripts/subset-fonts.py DIRECTORY_WITH_THE_FONTS assets/fonts

Keeps Latin, Greek, Cyrillic, punctuation, arrows, mathematical signs and shapes, and makes tabular
digits the digits, so that numbers stand below one another in tables and do not jump when they change.

Pictures that are saved as SVG contain their fonts, so those are cut down to the letters of English and packed as WOFF2.
"""

import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

RANGES = [
    (0x20, 0x7E), (0xA0, 0x17F), (0x192, 0x192), (0x218, 0x21B), (0x2B0, 0x2DD), (0x370, 0x3FF),
    (0x400, 0x45F), (0x1E9E, 0x1E9E), (0x2000, 0x206F), (0x2070, 0x209F), (0x20AC, 0x20AC),
    (0x2100, 0x214F), (0x2190, 0x21FF), (0x2200, 0x22FF), (0x2300, 0x23FF), (0x2500, 0x25FF),
    (0x2600, 0x27BF), (0xFB01, 0xFB02), (0xFFFD, 0xFFFD),
]
SIGNS = "\u00a0°±²³µ·×–—‘’“”•…′←↑→↓−≈≠≤≥"
FONTS = ["Inter-Regular", "Inter-Medium", "Inter-SemiBold", "JetBrainsMono-Regular"]


def tabular(font):
    """Lets the digits be those of the feature tnum."""
    if "GSUB" not in font:
        return
    table = font["GSUB"].table
    lookups = {
        index
        for record in table.FeatureList.FeatureRecord
        if record.FeatureTag == "tnum"
        for index in record.Feature.LookupListIndex
    }
    replaced = {}
    for index in lookups:
        for part in table.LookupList.Lookup[index].SubTable:
            part = getattr(part, "ExtSubTable", part)
            replaced.update(getattr(part, "mapping", {}))
    for cmap in font["cmap"].tables:
        for code in range(ord("0"), ord("9") + 1):
            if code in cmap.cmap:
                cmap.cmap[code] = replaced.get(cmap.cmap[code], cmap.cmap[code])


def for_pictures(fonts):
    """Writes the fonts for pictures beside those of the window."""
    options = subset.Options()
    options.layout_features = []
    options.name_IDs = [0, 1, 2, 13, 14]
    options.hinting = False
    options.flavor = "woff2"
    unicodes = [*range(0x20, 0x7F), *map(ord, SIGNS)]
    for name in FONTS:
        font = TTFont(next(path for path in Path(fonts).glob(name + ".*") if path.suffix in (".ttf", ".otf")))
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=unicodes)
        subsetter.subset(font)
        subset.save_font(font, Path(fonts) / (name + ".woff2"), options)


def main(source, target):
    options = subset.Options()
    options.layout_features = ["kern", "mark", "mkmk", "ccmp"]
    options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14]
    options.notdef_outline = True
    unicodes = [code for first, last in RANGES for code in range(first, last + 1)]
    for name in FONTS:
        path = next(path for path in Path(source).rglob(name + ".*") if path.suffix in (".ttf", ".otf"))
        font = TTFont(path)
        tabular(font)
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=unicodes)
        subsetter.subset(font)
        font.save(Path(target) / (name + path.suffix))
    for_pictures(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
