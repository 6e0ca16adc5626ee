# SPDX-License-Identifier: MIT
"""How far two colours are apart: for contrast, and for eyes that lack a kind of cone.

Colours are sRGB triples from 0 to 255, as a browser renders them.
"""

from collections.abc import Sequence

import numpy as np

Colour = Sequence[float]
DEFICIENCIES = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
"""What each does to linear sRGB at full severity: Machado, Oliveira and Fernandes, "A
Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE TVCG 15(6), 2009."""
_TO_XYZ = np.array(  # sRGB's primaries, IEC 61966-2-1
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
_WHITE = _TO_XYZ @ np.ones(3)


def linear(colour: Colour) -> np.ndarray:
    """Undo sRGB's transfer curve: light from 0 to 1."""
    part = np.asarray(colour, dtype=float) / 255
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def contrast(one: Colour, other: Colour) -> float:
    """Return the contrast ratio of WCAG 2.2, from 1 to 21."""
    dark, light = sorted(float(linear(colour) @ _TO_XYZ[1]) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def least_distance(one: Colour, other: Colour) -> tuple[float, str]:
    """Return the least CIEDE2000 distance over full and deficient colour vision, and whose."""
    seen = {"full colour vision": np.eye(3)} | {k: np.array(v) for k, v in DEFICIENCIES.items()}
    return min(
        (ciede2000(*(_lab(np.clip(eye @ linear(c), 0, 1)) for c in (one, other))), name)
        for name, eye in seen.items()
    )


def _lab(light: np.ndarray) -> np.ndarray:
    """Turn linear sRGB into CIELAB under D65."""
    ratio = _TO_XYZ @ light / _WHITE
    f = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def ciede2000(one: np.ndarray, other: np.ndarray) -> float:
    """Return the CIEDE2000 difference of two CIELAB colours.

    After Sharma, Wu and Dalal, "The CIEDE2000 Color-Difference Formula: Implementation Notes,
    Supplementary Test Data, and Mathematical Observations", Color Res. Appl. 30(1), 2005.
    """
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean_c7 = ((np.hypot(a1, b1) + np.hypot(a2, b2)) / 2) ** 7
    stretch = 1 + 0.5 * (1 - np.sqrt(mean_c7 / (mean_c7 + 25**7)))
    c1, c2 = np.hypot(stretch * a1, b1), np.hypot(stretch * a2, b2)
    h1, h2 = (np.degrees(np.arctan2(b, stretch * a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = 0.0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    hue = h1 + h2 if c1 * c2 == 0 else (h1 + turn / 2) % 360
    light, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    across = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2))
    factors = ((-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.20, 4, -63))
    t = 1 + sum(part * np.cos(np.radians(times * hue + shift)) for part, times, shift in factors)
    s_l = 1 + 0.015 * (light - 50) ** 2 / np.sqrt(20 + (light - 50) ** 2)
    s_c, s_h = 1 + 0.045 * chroma, 1 + 0.015 * chroma * t
    c7 = chroma**7
    blue = 60 * np.exp(-(((hue - 275) / 25) ** 2))
    rotation = -2 * np.sqrt(c7 / (c7 + 25**7)) * np.sin(np.radians(blue))
    parts = (l2 - l1) / s_l, (c2 - c1) / s_c, across / s_h
    return float(np.sqrt(sum(part**2 for part in parts) + rotation * parts[1] * parts[2]))
