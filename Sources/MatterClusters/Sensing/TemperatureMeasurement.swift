public import MatterModel

/// Temperature Measurement (0x0402). A measured temperature. Application Clusters § 2.3.
public enum TemperatureMeasurement: Cluster {
  public static let id: ClusterID = 0x0402, revision: UInt16 = 4, name = "TemperatureMeasurement"

  // MARK: Attributes

  public static let measuredValue = Attribute<Self, Nullable<Int16>>(0x0000, "MeasuredValue", initial: .null)
  public static let minMeasuredValue = Attribute<Self, Nullable<Int16>>(
    0x0001, "MinMeasuredValue", initial: .value(-27315), constraint: .range(-27315...32767))
  public static let maxMeasuredValue = Attribute<Self, Nullable<Int16>>(
    0x0002, "MaxMeasuredValue", initial: .value(32767))
  public static let tolerance = Attribute<Self, UInt16>(
    0x0003, "Tolerance", initial: 0, conformance: .optional, constraint: .range(0...2048))

  public static let elements: [any ClusterElement] = [measuredValue, minMeasuredValue, maxMeasuredValue, tolerance]
}
