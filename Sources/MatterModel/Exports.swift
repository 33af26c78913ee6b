// Cluster declarations use `Nullable` and `OctetString`, so the model exports them.
@_exported public import MatterTLV
