"""Every preset by name."""

from collections.abc import Mapping
from types import MappingProxyType

from .cart_bursts import CART_BURSTS
from .preset import Preset
from .shop import SHOP
from .social_network import POST_STORAGE, POST_STORAGE_HEAVY
from .sock_shop import CART, CART_4, CATALOGUE

PRESETS: Mapping[str, Preset] = MappingProxyType(
    {preset.name: preset for preset in (SHOP, CART, CART_4, CART_BURSTS, CATALOGUE, POST_STORAGE, POST_STORAGE_HEAVY)}
)
