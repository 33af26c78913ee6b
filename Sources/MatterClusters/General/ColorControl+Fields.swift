public import MatterModel

// The fields of the commands and events of Color Control. Application Clusters § 3.2.

extension ColorControl {
  /// Application Clusters § 3.2.8.4.
  public struct MoveToHueRequest: ModelStruct {
    public var hue: UInt8 = 0
    public var direction: Direction = .shortest
    public var transitionTime: UInt16 = 0
    public var optionsMask: Options = []
    public var optionsOverride: Options = []
    public static let fields: [Field<Self>] = [
      .init(0, "Hue", \.hue), .init(1, "Direction", \.direction), .init(2, "TransitionTime", \.transitionTime),
      .init(3, "OptionsMask", \.optionsMask), .init(4, "OptionsOverride", \.optionsOverride),
    ]

    public init() {}

    public init(
      hue: UInt8, direction: Direction, transitionTime: UInt16, optionsMask: Options, optionsOverride: Options
    ) {
      self.hue = hue
      self.direction = direction
      self.transitionTime = transitionTime
      self.optionsMask = optionsMask
      self.optionsOverride = optionsOverride
    }
  }

  /// Application Clusters § 3.2.8.5.
  public struct MoveHueRequest: ModelStruct {
    public var moveMode: MoveMode = .stop
    public var rate: UInt8 = 0
    public var optionsMask: Options = []
    public var optionsOverride: Options = []
    public static let fields: [Field<Self>] = [
      .init(0, "MoveMode", \.moveMode), .init(1, "Rate", \.rate), .init(2, "OptionsMask", \.optionsMask),
      .init(3, "OptionsOverride", \.optionsOverride),
    ]

    public init() {}

    public init(moveMode: MoveMode, rate: UInt8, optionsMask: Options, optionsOverride: Options) {
      self.moveMode = moveMode
      self.rate = rate
      self.optionsMask = optionsMask
      self.optionsOverride = optionsOverride
    }
  }

  /// Application Clusters § 3.2.8.6.
  public struct StepHueRequest: ModelStruct {
    public var stepMode: StepMode = .up
    public var stepSize: UInt8 = 0
    public var transitionTime: UInt8 = 0
    public var optionsMask: Options = []
    public var optionsOverride: Options = []
    public static let fields: [Field<Self>] = [
      .init(0, "StepMode", \.stepMode), .init(1, "StepSize", \.stepSize), .init(2, "TransitionTime", \.transitionTime),
      .init(3, "OptionsMask", \.optionsMask), .init(4, "OptionsOverride", \.optionsOverride),
    ]

    public init() {}

    public init(
      stepMode: StepMode, stepSize: UInt8, transitionTime: UInt8, optionsMask: Options, optionsOverride: Options
    ) {
      self.stepMode = stepMode
      self.stepSize = stepSize
      self.transitionTime = transitionTime
      self.optionsMask = optionsMask
      self.optionsOverride = optionsOverride
    }
  }

  /// Application Clusters § 3.2.8.7.
  public struct MoveToSaturationRequest: ModelStruct {
    public var saturation: UInt8 = 0
    public var transitionTime: UInt16 = 0
    public var optionsMask: Options = []
    public var optionsOverride: Options = []
    public static let fields: [Field<Self>] = [
      .init(0, "Saturation", \.saturation), .init(1, "TransitionTime", \.transitionTime),
      .init(2, "OptionsMask", \.optionsMask), .init(3, "OptionsOverride", \.optionsOverride),
    ]

    public init() {}

    public init(saturation: UInt8, transitionTime: UInt16, optionsMask: Options, optionsOverride: Options) {
      self.saturation = saturation
      self.transitionTime = transitionTime
      self.optionsMask = optionsMask
      self.optionsOverride = optionsOverride
    }
  }

  /// Application Clusters § 3.2.8.8.
  public struct MoveSaturationRequest: ModelStruct {
    public var moveMode: MoveMode = .stop
    public var rate: UInt8 = 0
    public var optionsMask: Options = []
    public var optionsOverride: Options = []
    public static let fields: [Field<Self>] = [
      .init(0, "MoveMode", \.moveMode), .init(1, "Rate", \.rate), .init(2, "OptionsMask", \.optionsMask),
      .init(3, "OptionsOverride", \.optionsOverride),
    ]

    public init() {}

    public init(moveMode: MoveMode, rate: UInt8, optionsMask: Options, optionsOverride: Options) {
      self.moveMode = moveMode
      self.rate = rate
      self.optionsMask = optionsMask
      self.optionsOverride = optionsOverride
    }
  }

  /// Application Clusters § 3.2.8.9.
  public struct StepSaturationRequest: ModelStruct {
    public var stepMode: StepMode = .up
    public var stepSize: UInt8 = 0
    public var transitionTime: UInt8 = 0
    public var optionsMask: Options = []
    public var optionsOverride: Options = []
    public static let fields: [Field<Self>] = [
      .init(0, "StepMode", \.stepMode), .init(1, "StepSize", \.stepSize), .init(2, "TransitionTime", \.transitionTime),
      .init(3, "OptionsMask", \.optionsMask), .init(4, "OptionsOverride", \.optionsOverride),
    ]

    public init() {}

    public init(
      stepMode: StepMode, stepSize: UInt8, transitionTime: UInt8, optionsMask: Options, optionsOverride: Options
    ) {
      self.stepMode = stepMode
      self.stepSize = stepSize
      self.transitionTime = transitionTime
      self.optionsMask = optionsMask
      self.optionsOverride = optionsOverride
    }
  }

  /// Application Clusters § 3.2.8.10.
  public struct MoveToHueAndSaturationRequest: ModelStruct {
    public var hue: UInt8 = 0
    public var saturation: UInt8 = 0
    public var transitionTime: UInt16 = 0
    public var optionsMask: Options = []
    public var optionsOverride: Options = []
    public static let fields: [Field<Self>] = [
      .init(0, "Hue", \.hue), .init(1, "Saturation", \.saturation), .init(2, "TransitionTime", \.transitionTime),
      .init(3, "OptionsMask", \.optionsMask), .init(4, "OptionsOverride", \.optionsOverride),
    ]

    public init() {}

    public init(hue: UInt8, saturation: UInt8, transitionTime: UInt16, optionsMask: Options, optionsOverride: Options) {
      self.hue = hue
      self.saturation = saturation
      self.transitionTime = transitionTime
      self.optionsMask = optionsMask
      self.optionsOverride = optionsOverride
    }
  }

  /// Application Clusters § 3.2.8.11.
  public struct MoveToColorRequest: ModelStruct {
    public var colorX: UInt16 = 0
    public var colorY: UInt16 = 0
    public var transitionTime: UInt16 = 0
    public var optionsMask: Options = []
    public var optionsOverride: Options = []
    public static let fields: [Field<Self>] = [
      .init(0, "ColorX", \.colorX), .init(1, "ColorY", \.colorY), .init(2, "TransitionTime", \.transitionTime),
      .init(3, "OptionsMask", \.optionsMask), .init(4, "OptionsOverride", \.optionsOverride),
    ]

    public init() {}

    public init(
      colorX: UInt16, colorY: UInt16, transitionTime: UInt16, optionsMask: Options, optionsOverride: Options
    ) {
      self.colorX = colorX
      self.colorY = colorY
      self.transitionTime = transitionTime
      self.optionsMask = optionsMask
      self.optionsOverride = optionsOverride
    }
  }

  /// Application Clusters § 3.2.8.12.
  public struct MoveColorRequest: ModelStruct {
    public var rateX: Int16 = 0
    public var rateY: Int16 = 0
    public var optionsMask: Options = []
    public var optionsOverride: Options = []
    public static let fields: [Field<Self>] = [
      .init(0, "RateX", \.rateX), .init(1, "RateY", \.rateY), .init(2, "OptionsMask", \.optionsMask),
      .init(3, "OptionsOverride", \.optionsOverride),
    ]

    public init() {}

    public init(rateX: Int16, rateY: Int16, optionsMask: Options, optionsOverride: Options) {
      self.rateX = rateX
      self.rateY = rateY
      self.optionsMask = optionsMask
      self.optionsOverride = optionsOverride
    }
  }

  /// Application Clusters § 3.2.8.13.
  public struct StepColorRequest: ModelStruct {
    public var stepX: Int16 = 0
    public var stepY: Int16 = 0
    public var transitionTime: UInt16 = 0
    public var optionsMask: Options = []
    public var optionsOverride: Options = []
    public static let fields: [Field<Self>] = [
      .init(0, "StepX", \.stepX), .init(1, "StepY", \.stepY), .init(2, "TransitionTime", \.transitionTime),
      .init(3, "OptionsMask", \.optionsMask), .init(4, "OptionsOverride", \.optionsOverride),
    ]

    public init() {}

    public init(stepX: Int16, stepY: Int16, transitionTime: UInt16, optionsMask: Options, optionsOverride: Options) {
      self.stepX = stepX
      self.stepY = stepY
      self.transitionTime = transitionTime
      self.optionsMask = optionsMask
      self.optionsOverride = optionsOverride
    }
  }

  /// Application Clusters § 3.2.8.14.
  public struct MoveToColorTemperatureRequest: ModelStruct {
    public var colorTemperatureMireds: UInt16 = 0
    public var transitionTime: UInt16 = 0
    public var optionsMask: Options = []
    public var optionsOverride: Options = []
    public static let fields: [Field<Self>] = [
      .init(0, "ColorTemperatureMireds", \.colorTemperatureMireds), .init(1, "TransitionTime", \.transitionTime),
      .init(2, "OptionsMask", \.optionsMask), .init(3, "OptionsOverride", \.optionsOverride),
    ]

    public init() {}

    public init(
      colorTemperatureMireds: UInt16, transitionTime: UInt16, optionsMask: Options, optionsOverride: Options
    ) {
      self.colorTemperatureMireds = colorTemperatureMireds
      self.transitionTime = transitionTime
      self.optionsMask = optionsMask
      self.optionsOverride = optionsOverride
    }
  }

  /// Application Clusters § 3.2.8.15.
  public struct EnhancedMoveToHueRequest: ModelStruct {
    public var enhancedHue: UInt16 = 0
    public var direction: Direction = .shortest
    public var transitionTime: UInt16 = 0
    public var optionsMask: Options = []
    public var optionsOverride: Options = []
    public static let fields: [Field<Self>] = [
      .init(0, "EnhancedHue", \.enhancedHue), .init(1, "Direction", \.direction),
      .init(2, "TransitionTime", \.transitionTime), .init(3, "OptionsMask", \.optionsMask),
      .init(4, "OptionsOverride", \.optionsOverride),
    ]

    public init() {}

    public init(
      enhancedHue: UInt16, direction: Direction, transitionTime: UInt16, optionsMask: Options,
      optionsOverride: Options
    ) {
      self.enhancedHue = enhancedHue
      self.direction = direction
      self.transitionTime = transitionTime
      self.optionsMask = optionsMask
      self.optionsOverride = optionsOverride
    }
  }

  /// Application Clusters § 3.2.8.16.
  public struct EnhancedMoveHueRequest: ModelStruct {
    public var moveMode: MoveMode = .stop
    public var rate: UInt16 = 0
    public var optionsMask: Options = []
    public var optionsOverride: Options = []
    public static let fields: [Field<Self>] = [
      .init(0, "MoveMode", \.moveMode), .init(1, "Rate", \.rate), .init(2, "OptionsMask", \.optionsMask),
      .init(3, "OptionsOverride", \.optionsOverride),
    ]

    public init() {}

    public init(moveMode: MoveMode, rate: UInt16, optionsMask: Options, optionsOverride: Options) {
      self.moveMode = moveMode
      self.rate = rate
      self.optionsMask = optionsMask
      self.optionsOverride = optionsOverride
    }
  }

  /// Application Clusters § 3.2.8.17.
  public struct EnhancedStepHueRequest: ModelStruct {
    public var stepMode: StepMode = .up
    public var stepSize: UInt16 = 0
    public var transitionTime: UInt16 = 0
    public var optionsMask: Options = []
    public var optionsOverride: Options = []
    public static let fields: [Field<Self>] = [
      .init(0, "StepMode", \.stepMode), .init(1, "StepSize", \.stepSize), .init(2, "TransitionTime", \.transitionTime),
      .init(3, "OptionsMask", \.optionsMask), .init(4, "OptionsOverride", \.optionsOverride),
    ]

    public init() {}

    public init(
      stepMode: StepMode, stepSize: UInt16, transitionTime: UInt16, optionsMask: Options, optionsOverride: Options
    ) {
      self.stepMode = stepMode
      self.stepSize = stepSize
      self.transitionTime = transitionTime
      self.optionsMask = optionsMask
      self.optionsOverride = optionsOverride
    }
  }

  /// Application Clusters § 3.2.8.18.
  public struct EnhancedMoveToHueAndSaturationRequest: ModelStruct {
    public var enhancedHue: UInt16 = 0
    public var saturation: UInt8 = 0
    public var transitionTime: UInt16 = 0
    public var optionsMask: Options = []
    public var optionsOverride: Options = []
    public static let fields: [Field<Self>] = [
      .init(0, "EnhancedHue", \.enhancedHue), .init(1, "Saturation", \.saturation),
      .init(2, "TransitionTime", \.transitionTime), .init(3, "OptionsMask", \.optionsMask),
      .init(4, "OptionsOverride", \.optionsOverride),
    ]

    public init() {}

    public init(
      enhancedHue: UInt16, saturation: UInt8, transitionTime: UInt16, optionsMask: Options, optionsOverride: Options
    ) {
      self.enhancedHue = enhancedHue
      self.saturation = saturation
      self.transitionTime = transitionTime
      self.optionsMask = optionsMask
      self.optionsOverride = optionsOverride
    }
  }

  /// Application Clusters § 3.2.8.19.
  public struct ColorLoopSetRequest: ModelStruct {
    public var updateFlags: UpdateFlags = []
    public var action: ColorLoopAction = .deactivate
    public var direction: ColorLoopDirection = .decrement
    public var time: UInt16 = 0
    public var startHue: UInt16 = 0
    public var optionsMask: Options = []
    public var optionsOverride: Options = []
    public static let fields: [Field<Self>] = [
      .init(0, "UpdateFlags", \.updateFlags), .init(1, "Action", \.action), .init(2, "Direction", \.direction),
      .init(3, "Time", \.time), .init(4, "StartHue", \.startHue), .init(5, "OptionsMask", \.optionsMask),
      .init(6, "OptionsOverride", \.optionsOverride),
    ]

    public init() {}

    public init(
      updateFlags: UpdateFlags, action: ColorLoopAction, direction: ColorLoopDirection, time: UInt16, startHue: UInt16,
      optionsMask: Options, optionsOverride: Options
    ) {
      self.updateFlags = updateFlags
      self.action = action
      self.direction = direction
      self.time = time
      self.startHue = startHue
      self.optionsMask = optionsMask
      self.optionsOverride = optionsOverride
    }
  }

  /// Application Clusters § 3.2.8.20.
  public struct StopMoveStepRequest: ModelStruct {
    public var optionsMask: Options = []
    public var optionsOverride: Options = []
    public static let fields: [Field<Self>] = [
      .init(0, "OptionsMask", \.optionsMask), .init(1, "OptionsOverride", \.optionsOverride),
    ]

    public init() {}

    public init(optionsMask: Options, optionsOverride: Options) {
      self.optionsMask = optionsMask
      self.optionsOverride = optionsOverride
    }
  }

  /// Application Clusters § 3.2.8.21.
  public struct MoveColorTemperatureRequest: ModelStruct {
    public var moveMode: MoveMode = .stop
    public var rate: UInt16 = 0
    public var colorTemperatureMinimumMireds: UInt16 = 0
    public var colorTemperatureMaximumMireds: UInt16 = 0
    public var optionsMask: Options = []
    public var optionsOverride: Options = []
    public static let fields: [Field<Self>] = [
      .init(0, "MoveMode", \.moveMode), .init(1, "Rate", \.rate),
      .init(2, "ColorTemperatureMinimumMireds", \.colorTemperatureMinimumMireds),
      .init(3, "ColorTemperatureMaximumMireds", \.colorTemperatureMaximumMireds),
      .init(4, "OptionsMask", \.optionsMask), .init(5, "OptionsOverride", \.optionsOverride),
    ]

    public init() {}

    public init(
      moveMode: MoveMode, rate: UInt16, colorTemperatureMinimumMireds: UInt16, colorTemperatureMaximumMireds: UInt16,
      optionsMask: Options, optionsOverride: Options
    ) {
      self.moveMode = moveMode
      self.rate = rate
      self.colorTemperatureMinimumMireds = colorTemperatureMinimumMireds
      self.colorTemperatureMaximumMireds = colorTemperatureMaximumMireds
      self.optionsMask = optionsMask
      self.optionsOverride = optionsOverride
    }
  }

  /// Application Clusters § 3.2.8.22.
  public struct StepColorTemperatureRequest: ModelStruct {
    public var stepMode: StepMode = .up
    public var stepSize: UInt16 = 0
    public var transitionTime: UInt16 = 0
    public var colorTemperatureMinimumMireds: UInt16 = 0
    public var colorTemperatureMaximumMireds: UInt16 = 0
    public var optionsMask: Options = []
    public var optionsOverride: Options = []
    public static let fields: [Field<Self>] = [
      .init(0, "StepMode", \.stepMode), .init(1, "StepSize", \.stepSize), .init(2, "TransitionTime", \.transitionTime),
      .init(3, "ColorTemperatureMinimumMireds", \.colorTemperatureMinimumMireds),
      .init(4, "ColorTemperatureMaximumMireds", \.colorTemperatureMaximumMireds),
      .init(5, "OptionsMask", \.optionsMask), .init(6, "OptionsOverride", \.optionsOverride),
    ]

    public init() {}

    public init(
      stepMode: StepMode, stepSize: UInt16, transitionTime: UInt16, colorTemperatureMinimumMireds: UInt16,
      colorTemperatureMaximumMireds: UInt16, optionsMask: Options, optionsOverride: Options
    ) {
      self.stepMode = stepMode
      self.stepSize = stepSize
      self.transitionTime = transitionTime
      self.colorTemperatureMinimumMireds = colorTemperatureMinimumMireds
      self.colorTemperatureMaximumMireds = colorTemperatureMaximumMireds
      self.optionsMask = optionsMask
      self.optionsOverride = optionsOverride
    }
  }
}
