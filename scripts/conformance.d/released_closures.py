"""Closure Dimension of Matter 1.5. The released Python controller has a draft of it, with other names and types; the scripts of
the checkout use those of the standard."""

from dataclasses import dataclass
from enum import IntFlag
from typing import Optional, Union

from chip import ChipUtility
from chip.clusters.ClusterObjects import (ClusterAttributeDescriptor, ClusterObject, ClusterObjectDescriptor,
                                          ClusterObjectFieldDescriptor)
from chip.clusters.Objects import ClosureDimension, Globals
from chip.clusters.Types import Nullable, NullValue
from chip.tlv import uint

FIELDS = {"position": Union[None, Nullable, uint], "latch": Union[None, Nullable, bool],
          "speed": Optional[Globals.Enums.ThreeLevelAutoEnum]}


@dataclass
class DimensionStateStruct(ClusterObject):
    @ChipUtility.classproperty
    def descriptor(cls) -> ClusterObjectDescriptor:
        return ClusterObjectDescriptor(Fields=[
            ClusterObjectFieldDescriptor(Label=label, Tag=tag, Type=kind) for tag, (label, kind) in enumerate(FIELDS.items())])

    position: Union[None, Nullable, uint] = None
    latch: Union[None, Nullable, bool] = None
    speed: Optional[Globals.Enums.ThreeLevelAutoEnum] = None


class LatchControlModesBitmap(IntFlag):
    kRemoteLatching = 0x1
    kRemoteUnlatching = 0x2


def attribute(name: str, number: int, kind, initial):
    """Declares an attribute, which replaces that of the draft with the same number."""
    class Declared(ClusterAttributeDescriptor):
        @ChipUtility.classproperty
        def cluster_id(cls) -> int:
            return ClosureDimension.id

        @ChipUtility.classproperty
        def attribute_id(cls) -> int:
            return number

        @ChipUtility.classproperty
        def attribute_type(cls) -> ClusterObjectFieldDescriptor:
            return ClusterObjectFieldDescriptor(Type=kind)

        value = initial

    Declared.__name__ = Declared.__qualname__ = name
    setattr(ClosureDimension.Attributes, name, Declared)


def install():
    ClosureDimension.Structs.DimensionStateStruct = DimensionStateStruct
    ClosureDimension.Bitmaps.LatchControlModesBitmap = LatchControlModesBitmap
    attribute("CurrentState", 0x0000, Union[Nullable, DimensionStateStruct], NullValue)
    attribute("TargetState", 0x0001, Union[Nullable, DimensionStateStruct], NullValue)
    attribute("LatchControlModes", 0x000B, Optional[uint], None)
