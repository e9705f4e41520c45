"""Requirements of readers on every figure."""

from __future__ import annotations

from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text

from dpol.show import style


def assert_legible(figure: Figure) -> None:
    """Texts are large enough, stand out from white, and have no formulas, which SVG cuts up."""
    texts = [it for it in figure.findobj(Text) if it.get_visible() and it.get_text()]
    assert texts
    for text in texts:
        assert style.contrast(to_hex(text.get_color())) >= 4.5, text
        assert text.get_fontsize() >= 7.0, text
        assert not (text.get_parse_math() and text.get_text().count("$") > 1), text
