"""Applications shaped like DeathStarBench's, and their deployment on uneven hosts."""

from .hotel import HOTEL
from .media import MEDIA
from .shape import Shape
from .social_network import SOCIAL_NETWORK

SHAPES: dict[str, Shape] = {shape.name: shape for shape in (SOCIAL_NETWORK, MEDIA, HOTEL)}
