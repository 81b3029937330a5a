"""Lines over logarithmic axes, drawn by Vega-Lite."""
from __future__ import annotations

from bench_points import Chart


def specification(chart: Chart) -> dict:
    """The chart as Vega-Lite has it: a line, its points, and the range of the repeats for each series."""
    places = sorted({point.x for point in chart.points})
    x = {
        "field": "x",
        "type": "quantitative",
        "title": chart.x_title,
        "scale": {"type": "log", "base": 2},
        "axis": {"values": places, "format": ","},
    }
    y = {"field": "y", "type": "quantitative", "title": chart.y_title, "scale": {"type": "log"}, "axis": {"format": ","}}
    series = [point.series for point in chart.points]
    colour = {"field": "series", "type": "nominal", "title": None, "sort": list(dict.fromkeys(series)),
              "legend": {"labelLimit": 400}}
    encoding = {"x": x, "y": y, "color": colour}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": chart.title,
        "width": 480,
        "height": 300,
        "background": "white",
        "data": {"values": [vars(point) for point in chart.points]},
        "layer": [
            {"mark": {"type": "rule", "opacity": 0.5}, "encoding": {
                "x": x, "color": colour, "y": {"field": "low", "type": "quantitative"}, "y2": {"field": "high"}}},
            {"mark": {"type": "line", "point": True}, "encoding": encoding},
        ],
    }


def svg(chart: Chart) -> str:
    """The chart as an SVG file's text."""
    import vl_convert  # a big library: only where something is drawn

    return vl_convert.vegalite_to_svg(specification(chart), vl_version="5.8")
