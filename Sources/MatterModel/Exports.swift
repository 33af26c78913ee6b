// A declaration speaks of `Nullable` and `OctetString`: whoever declares clusters gets them with the model.
@_exported public import MatterTLV
