public import MatterModel

// The types of Color Control. Application Clusters § 3.2.

extension ColorControl {
  /// The features of the color model that a light supports. Application Clusters § 3.2.6.1.
  public struct ColorCapabilities: WireBitmap {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let hueSaturation = Self(rawValue: 1 << 0), enhancedHue = Self(rawValue: 1 << 1)
    public static let colorLoop = Self(rawValue: 1 << 2), xy = Self(rawValue: 1 << 3)
    public static let colorTemperature = Self(rawValue: 1 << 4)
    public static let names: [Int: String] = [
      0: "HueSaturation", 1: "EnhancedHue", 2: "ColorLoop", 3: "XY", 4: "ColorTemperature",
    ]
  }

  /// Application Clusters § 3.2.6.2.
  public struct Options: WireBitmap {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let executeIfOff = Self(rawValue: 1 << 0)
    public static let names: [Int: String] = [0: "ExecuteIfOff"]
  }

  /// Application Clusters § 3.2.6.3.
  public struct UpdateFlags: WireBitmap {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let updateAction = Self(rawValue: 1 << 0), updateDirection = Self(rawValue: 1 << 1)
    public static let updateTime = Self(rawValue: 1 << 2), updateStartHue = Self(rawValue: 1 << 3)
    public static let names: [Int: String] = [
      0: "UpdateAction", 1: "UpdateDirection", 2: "UpdateTime", 3: "UpdateStartHue",
    ]
  }

  /// Application Clusters § 3.2.6.4.
  public struct DriftCompensation: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let none = Self(0), otherOrUnknown = Self(1), temperatureMonitoring = Self(2)
    public static let opticalLuminanceMonitoringAndFeedback = Self(3), opticalColorMonitoringAndFeedback = Self(4)
    public static let names: [UInt64: String] = [
      0: "None", 1: "OtherOrUnknown", 2: "TemperatureMonitoring", 3: "OpticalLuminanceMonitoringAndFeedback",
      4: "OpticalColorMonitoringAndFeedback",
    ]
  }

  /// Application Clusters § 3.2.6.5.
  public struct ColorMode: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let currentHueAndCurrentSaturation = Self(0), currentXAndCurrentY = Self(1)
    public static let colorTemperatureMireds = Self(2)
    public static let names: [UInt64: String] = [
      0: "CurrentHueAndCurrentSaturation", 1: "CurrentXAndCurrentY", 2: "ColorTemperatureMireds",
    ]
  }

  /// Application Clusters § 3.2.6.6.
  public struct EnhancedColorMode: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let currentHueAndCurrentSaturation = Self(0), currentXAndCurrentY = Self(1)
    public static let colorTemperatureMireds = Self(2), enhancedCurrentHueAndCurrentSaturation = Self(3)
    public static let names: [UInt64: String] = [
      0: "CurrentHueAndCurrentSaturation", 1: "CurrentXAndCurrentY", 2: "ColorTemperatureMireds",
      3: "EnhancedCurrentHueAndCurrentSaturation",
    ]
  }

  /// Application Clusters § 3.2.6.7.
  public struct Direction: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let shortest = Self(0), longest = Self(1), up = Self(2), down = Self(3)
    public static let names: [UInt64: String] = [0: "Shortest", 1: "Longest", 2: "Up", 3: "Down"]
  }

  /// Application Clusters § 3.2.6.8.
  public struct MoveMode: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let stop = Self(0), up = Self(1), down = Self(3)
    public static let names: [UInt64: String] = [0: "Stop", 1: "Up", 3: "Down"]
  }

  /// Application Clusters § 3.2.6.9.
  public struct StepMode: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let up = Self(1), down = Self(3)
    public static let names: [UInt64: String] = [1: "Up", 3: "Down"]
  }

  /// Application Clusters § 3.2.6.10.
  public struct ColorLoopAction: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let deactivate = Self(0), activateFromColorLoopStartEnhancedHue = Self(1)
    public static let activateFromEnhancedCurrentHue = Self(2)
    public static let names: [UInt64: String] = [
      0: "Deactivate", 1: "ActivateFromColorLoopStartEnhancedHue", 2: "ActivateFromEnhancedCurrentHue",
    ]
  }

  /// Application Clusters § 3.2.6.11.
  public struct ColorLoopDirection: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let decrement = Self(0), increment = Self(1)
    public static let names: [UInt64: String] = [0: "Decrement", 1: "Increment"]
  }
}
