public import MatterModel

/// Time Format Localization (0x002C). The formats in which the node displays times and dates. Matter Core § 11.4.
public enum TimeFormatLocalization: Cluster {
  public static let id: ClusterID = 0x002C, revision: UInt16 = 1, name = "TimeFormatLocalization"

  public static let calendarFormat = Feature(0, "CALFMT", "CalendarFormat")
  public static let features: [Feature] = [calendarFormat]

  // MARK: Attributes

  public static let hourFormat = Attribute<Self, HourFormat>(
    0x0000, "HourFormat", quality: .nonVolatile, write: .manage)
  public static let activeCalendarType = Attribute<Self, CalendarType>(
    0x0001, "ActiveCalendarType", quality: .nonVolatile, write: .manage, conformance: .features(calendarFormat.mask))
  public static let supportedCalendarTypes = Attribute<Self, [CalendarType]>(
    0x0002, "SupportedCalendarTypes", quality: .fixed, conformance: .features(calendarFormat.mask))

  public static let elements: [any ClusterElement] = [hourFormat, activeCalendarType, supportedCalendarTypes]

  // MARK: Types

  /// Matter Core § 11.4.5.1.
  public struct HourFormat: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let hours12 = Self(0), hours24 = Self(1), useActiveLocale = Self(255)
    public static let names: [UInt64: String] = [0: "12hr", 1: "24hr", 255: "UseActiveLocale"]
  }

  /// Matter Core § 11.4.5.2.
  public struct CalendarType: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let buddhist = Self(0), chinese = Self(1), coptic = Self(2), ethiopian = Self(3), gregorian = Self(4)
    public static let hebrew = Self(5), indian = Self(6), islamic = Self(7), japanese = Self(8), korean = Self(9)
    public static let persian = Self(10), taiwanese = Self(11), useActiveLocale = Self(255)
    public static let names: [UInt64: String] = [
      0: "Buddhist", 1: "Chinese", 2: "Coptic", 3: "Ethiopian", 4: "Gregorian", 5: "Hebrew", 6: "Indian", 7: "Islamic",
      8: "Japanese", 9: "Korean", 10: "Persian", 11: "Taiwanese", 255: "UseActiveLocale",
    ]
  }
}
