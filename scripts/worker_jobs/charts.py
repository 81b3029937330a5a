"""Draws the charts of reports: Vega-Lite specs as SVG and PDF, through vl-convert.

A spec says what is drawn; sizes, fonts and colours are said here. A chart is drawn once, with stand-ins for colours,
and the result is rewritten for each theme: elements and attributes that are not in the lists below are an error or
left out, so that nothing in an SVG can run, load or refer to anything outside it.
"""

import base64
import re
from xml.etree import ElementTree

SVG = "http://www.w3.org/2000/svg"
VEGA_LITE = "5.21"

# vl-convert brings Liberation Sans, whose letters are as wide as those of the others, so that places computed here are
# right wherever one of them is installed. One weight only: with two fonts, a PDF has them in an order of chance.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"

WIDTH = 600  # of the plots of a chart together, about; CSS pixels
HEIGHT = 190
ROW = 26

# name: (light, dark). The series' colours keep 3:1 against their background, and their distances under protanopia,
# deuteranopia and tritanopia; the first is the baseline's.
SERIES = [
    ("#3b4048", "#d5dae1"),
    ("#2546e1", "#706dff"),
    ("#bb2f00", "#fd6226"),
    ("#2d8d75", "#4ea777"),
    ("#8d3f97", "#bb62bb"),
    ("#989a00", "#c9cb3a"),
    ("#f041a6", "#ff80c0"),
    ("#0f9ddb", "#3bbfff"),
]
# Which of them a setting has, by its place: only the first is one setting's alone.
SERIES_PLACES = [1] + 5 * list(range(2, len(SERIES) + 1))
COLOURS = {f"series-{i + 1}": pair for i, pair in enumerate(SERIES)}
COLOURS |= {
    "ink": ("#1f2328", "#e6e9ee"),
    "quiet": ("#59616b", "#a3acb8"),
    "grid": ("#e4e7eb", "#2c323b"),
    "muted": ("#a9b0b9", "#68727f"),
    "paper": ("#ffffff", "#16181d"),
}
THEMES = ("light", "dark", "page")

# What vl-convert is given in their place: colours that nothing else has.
STAND_INS = {name: f"#fe{0x40 + i:02x}{0xB0 - i:02x}" for i, name in enumerate(COLOURS)}


def config():
    """Vega-Lite's config: all that a spec leaves open."""
    c = STAND_INS
    text = {"font": FONT, "fontSize": 12, "fill": c["quiet"]}
    return {
        "font": FONT,
        "aria": False,
        "background": "transparent",
        "padding": 6,
        "view": {"stroke": None, "discreteHeight": {"step": ROW}, "continuousHeight": HEIGHT},
        "range": {"category": [c[f"series-{i}"] for i in SERIES_PLACES]},
        "axis": {
            "labelFont": FONT, "labelFontSize": 12, "labelColor": c["quiet"], "labelLimit": 300, "labelPadding": 5,
            "titleFont": FONT, "titleFontSize": 12, "titleFontWeight": "normal", "titleColor": c["ink"],
            "titlePadding": 9, "titleLimit": 420,
            "labelFlush": False,
            "domainColor": c["muted"], "tickColor": c["muted"], "tickSize": 4, "gridColor": c["grid"],
        },
        "axisY": {"domain": False, "ticks": False},
        "axisQuantitative": {"tickCount": 6},
        "axisX": {"labelAngle": 0},
        "axisXDiscrete": {"labelOverlap": "greedy", "labelSeparation": 3},
        "axisDiscrete": {"grid": False, "domain": False, "ticks": False, "labelColor": c["ink"]},
        "legend": {
            "labelFont": FONT, "labelFontSize": 12, "labelColor": c["ink"], "labelLimit": 320, "symbolSize": 70,
            "symbolStrokeWidth": 2, "symbolOpacity": 1, "rowPadding": 5, "offset": 16, "title": None,
        },
        "header": {
            "labelFont": FONT, "labelFontSize": 13, "labelFontWeight": "normal", "labelColor": c["ink"],
            "labelAnchor": "start", "labelLimit": 420, "labelPadding": 6, "title": None,
        },
        "facet": {"spacing": 26},
        "concat": {"spacing": 44},
        "bar": {"discreteBandSize": {"band": 0.62}},
        "line": {"strokeWidth": 2, "strokeJoin": "round", "strokeCap": "butt"},
        "point": {"size": 64, "strokeWidth": 1.5, "opacity": 1},
        "text": text,
        "style": {
            "interval": {"strokeWidth": 2, "strokeCap": "butt"},
            "band": {"opacity": 1, "fillOpacity": 0.14},
            "reference": {"color": c["quiet"], "strokeWidth": 1, "strokeDash": [3, 3]},
            "level": {"strokeWidth": 1.5, "strokeDash": [4, 3]},
            "histogram": {"strokeWidth": 0},
            "muted": {"color": c["muted"]},
            "truncated": {"shape": "stroke", "angle": 90, "size": 160, "strokeWidth": 2, "filled": False},
            "value": {"align": "left", "baseline": "middle", "dx": 7, "fill": c["quiet"], "fontSize": 12},
            "note": {"fontSize": 11, "fill": c["quiet"], "align": "right"},
            "above": {"dy": -7, "baseline": "bottom"},
            "below": {"dy": 7, "baseline": "top"},
            "heading": {"baseline": "bottom", "dy": -6},
        },
    }


def sized(spec):
    """The spec with the room that its panels have beside each other."""
    panels = len(spec["hconcat"]) if "hconcat" in spec else 1
    if "facet" in spec:
        groups = spec["facet"].get("sort") or []
        panels = min(spec.get("columns", 1), max(1, len(groups)))
    own = config()
    width = round((WIDTH - 40 * (panels - 1)) / panels)
    own["view"]["continuousWidth"] = own["view"]["discreteWidth"] = width
    own["axisXQuantitative"] = {"tickCount": max(3, min(6, width // 45))}
    own["header"]["labelLimit"] = width
    return {**spec, "config": own}


# --- The SVG, rewritten.

# Element: its attributes that are kept.
PAINT = ("fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "stroke-dashoffset",
         "stroke-linecap", "stroke-linejoin", "stroke-miterlimit", "opacity", "transform")
TEXT = ("text-anchor", "font-family", "font-size", "font-weight", "font-style", "x", "y", "dx", "dy")
KEPT = {
    "svg": ("width", "height", "viewBox"),
    "g": PAINT,
    "path": (*PAINT, "d"),
    "rect": (*PAINT, "x", "y", "width", "height", "rx", "ry"),
    "line": (*PAINT, "x1", "y1", "x2", "y2"),
    "circle": (*PAINT, "cx", "cy", "r"),
    "text": (*PAINT, *TEXT),
    "tspan": (*PAINT, *TEXT),
}
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
VALUE = re.compile(r"[-#%(),.\w\s]*")  # of every attribute kept: no colon, no quote, no url() with anything in it


def rounded(match):
    text = f"{float(match.group()):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def shown(element):
    """Whether anything of it is seen."""
    if element.get("display") == "none" or element.get("opacity") == "0":
        return False
    name = element.tag.rpartition("}")[2]
    if name == "g":
        return len(element) > 0
    painted = any(element.get(key, "none") not in ("none", "transparent") for key in ("fill", "stroke"))
    if name in ("path", "rect") and not painted:
        return False
    return name != "path" or element.get("d", "") not in ("", "M0,0h0v0h0Z")


def attribute(name, text):
    if not VALUE.fullmatch(text) or "url" in text:
        raise ValueError(f"vl-convert drew something with {name}=\"{text[:60]}\", which charts have no use for")
    return NUMBER.sub(rounded, text) if name in ("d", "transform", "x", "y", "x1", "x2", "y1", "y2") else text


def copied(element):
    """An element with what is kept of it; None where nothing of it is seen."""
    namespace, _, name = element.tag[1:].partition("}") if element.tag[0] == "{" else ("", "", element.tag)
    if namespace != SVG or name not in KEPT:
        raise ValueError(f"vl-convert drew a <{name}>, which charts have no use for")
    children = [child for child in map(copied, element) if child is not None]
    copy = ElementTree.Element(name)
    for key in KEPT[name]:
        if key in element.attrib and (key, element.get(key)) not in (("opacity", "1"), ("transform", "translate(0,0)")):
            copy.set(key, attribute(key, element.get(key)))
    copy.text = element.text if name in ("text", "tspan") else None
    copy.extend(children)
    if name == "g" and len(children) == 1 and not copy.attrib:
        return children[0]
    return copy if shown(copy) or (name == "text" and shown(element)) else None


def coloured(svg, theme):
    """The drawing's text with a theme's colours: those of a page are its own, with the light ones where it has none."""
    for name, stand_in in STAND_INS.items():
        light, dark = COLOURS[name]
        value = {"light": light, "dark": dark, "page": f"var(--chart-{name}, {light})"}[theme]
        svg = svg.replace(f'"{stand_in}"', f'"{value}"')
    return svg


def drawing(spec, title):
    """An SVG with stand-ins for colours, named by `title` for those who cannot see it."""
    import vl_convert  # a big library: only where something is drawn

    # What is missing from the data is an error of the spec, not of the network.
    text = vl_convert.vegalite_to_svg(sized(spec), vl_version=VEGA_LITE, allowed_base_urls=[])
    root = copied(ElementTree.fromstring(text))
    root.set("xmlns", SVG)
    root.set("role", "img")
    root.set("aria-label", title)
    root.set("fill", "none")
    root.set("stroke-miterlimit", "10")
    return root


def with_paper(root):
    """The same on a background of its own."""
    copy = ElementTree.Element(root.tag, root.attrib)
    paper = {"width": root.get("width"), "height": root.get("height"), "fill": STAND_INS["paper"]}
    copy.append(ElementTree.Element("rect", paper))
    copy.extend(list(root))
    return copy


def serialized(root):
    return ElementTree.tostring(root, encoding="unicode")


# vl-convert writes a page's resources in an order of chance; lines that change places keep the file's offsets right.
RESOURCES = re.compile(rb"(?:\n +/[a-z]{2}\d+ \d+ 0 R){2,}")


def pdf(svg):
    import vl_convert

    def ordered(lines):
        return b"\n".join([b"", *sorted(lines.group().split(b"\n")[1:])])

    return RESOURCES.sub(ordered, vl_convert.svg_to_pdf(svg))


def render_charts(request):
    """{"charts": [{"name", "title", "spec"}], "themes": of THEMES, "pdf": whether}: for each chart an object with its
    SVG for each theme ("page" has no background, and colours that the page may set: chart_colours()), and its PDF in
    base64 under "pdf"."""
    results = []
    for chart in request["charts"]:
        try:
            root = drawing(chart["spec"], chart["title"])
        except (ValueError, ElementTree.ParseError) as error:
            raise ValueError(f"chart {chart['name']}: {error}") from None
        bare, whole = serialized(root), serialized(with_paper(root))
        result = {theme: coloured(bare if theme == "page" else whole, theme) for theme in request["themes"]}
        if request["pdf"]:
            result["pdf"] = base64.b64encode(pdf(coloured(bare, "light"))).decode("ascii")
        results.append(result)
    return results


def chart_colours(_request):
    """{"light": {...}, "dark": {...}}: the colours by the names of the custom properties that "page" drawings use."""
    return {theme: {f"--chart-{name}": pair[i] for name, pair in COLOURS.items()} for i, theme in enumerate(THEMES[:2])}
