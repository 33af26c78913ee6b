// The objects of a home are identified and described with ids, paths and values of `MatterModel`, so importing
// `HomeModel` is enough.
@_exported public import MatterModel
