public import MatterModel

/// Relative Humidity Measurement (0x0405). A measured relative humidity. Application Clusters § 2.6.
public enum RelativeHumidityMeasurement: Cluster {
  public static let id: ClusterID = 0x0405, revision: UInt16 = 3, name = "RelativeHumidityMeasurement"

  // MARK: Attributes

  public static let measuredValue = Attribute<Self, Nullable<UInt16>>(0x0000, "MeasuredValue", initial: .null)
  public static let minMeasuredValue = Attribute<Self, Nullable<UInt16>>(
    0x0001, "MinMeasuredValue", initial: .null, constraint: .range(0...9999))
  public static let maxMeasuredValue = Attribute<Self, Nullable<UInt16>>(
    0x0002, "MaxMeasuredValue", initial: .null, constraint: .range(0...10000))
  public static let tolerance = Attribute<Self, UInt16>(
    0x0003, "Tolerance", conformance: .optional, constraint: .range(0...2048))

  public static let elements: [any ClusterElement] = [measuredValue, minMeasuredValue, maxMeasuredValue, tolerance]
}
