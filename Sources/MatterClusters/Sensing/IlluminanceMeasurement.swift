public import MatterModel

/// Illuminance Measurement (0x0400). A measured illuminance. Application Clusters § 2.2.
public enum IlluminanceMeasurement: Cluster {
  public static let id: ClusterID = 0x0400, revision: UInt16 = 3, name = "IlluminanceMeasurement"

  // MARK: Attributes

  public static let measuredValue = Attribute<Self, Nullable<UInt16>>(0x0000, "MeasuredValue", initial: .value(0))
  public static let minMeasuredValue = Attribute<Self, Nullable<UInt16>>(
    0x0001, "MinMeasuredValue", initial: .null, constraint: .range(1...65533))
  public static let maxMeasuredValue = Attribute<Self, Nullable<UInt16>>(0x0002, "MaxMeasuredValue", initial: .null)
  public static let tolerance = Attribute<Self, UInt16>(
    0x0003, "Tolerance", conformance: .optional, constraint: .range(0...2048))
  public static let lightSensorType = Attribute<Self, Nullable<LightSensorType>>(
    0x0004, "LightSensorType", initial: .null, conformance: .optional)

  public static let elements: [any ClusterElement] = [
    measuredValue, minMeasuredValue, maxMeasuredValue, tolerance, lightSensorType,
  ]

  // MARK: Types

  /// Application Clusters § 2.2.4.1.
  public struct LightSensorType: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let photodiode = Self(0), cmos = Self(1)
    public static let names: [UInt64: String] = [0: "Photodiode", 1: "CMOS"]
  }
}
