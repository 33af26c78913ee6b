public import MatterModel

// The fields of the commands and events of Thermostat. Application Clusters § 4.3.

extension Thermostat {
  /// Application Clusters § 4.3.10.1.
  public struct SetpointRaiseLowerRequest: ModelStruct {
    public var mode: SetpointRaiseLowerMode = .heat
    public var amount: Int8 = 0
    public static let fields: [Field<Self>] = [.init(0, "Mode", \.mode), .init(1, "Amount", \.amount)]

    public init() {}

    public init(mode: SetpointRaiseLowerMode, amount: Int8) {
      self.mode = mode
      self.amount = amount
    }
  }

  /// Application Clusters § 4.3.10.2.
  public struct SetWeeklyScheduleRequest: ModelStruct {
    public var numberOfTransitionsForSequence: UInt8 = 0
    public var dayOfWeekForSequence: ScheduleDayOfWeek = []
    public var modeForSequence: ScheduleMode = []
    public var transitions: [WeeklyScheduleTransitionStruct] = []
    public static let fields: [Field<Self>] = [
      .init(0, "NumberOfTransitionsForSequence", \.numberOfTransitionsForSequence),
      .init(1, "DayOfWeekForSequence", \.dayOfWeekForSequence), .init(2, "ModeForSequence", \.modeForSequence),
      .init(3, "Transitions", \.transitions),
    ]

    public init() {}

    public init(
      numberOfTransitionsForSequence: UInt8, dayOfWeekForSequence: ScheduleDayOfWeek, modeForSequence: ScheduleMode,
      transitions: [WeeklyScheduleTransitionStruct]
    ) {
      self.numberOfTransitionsForSequence = numberOfTransitionsForSequence
      self.dayOfWeekForSequence = dayOfWeekForSequence
      self.modeForSequence = modeForSequence
      self.transitions = transitions
    }
  }

  /// Application Clusters § 4.3.10.3.
  public struct GetWeeklyScheduleRequest: ModelStruct {
    public var daysToReturn: ScheduleDayOfWeek = []
    public var modeToReturn: ScheduleMode = []
    public static let fields: [Field<Self>] = [
      .init(0, "DaysToReturn", \.daysToReturn), .init(1, "ModeToReturn", \.modeToReturn),
    ]

    public init() {}

    public init(daysToReturn: ScheduleDayOfWeek, modeToReturn: ScheduleMode) {
      self.daysToReturn = daysToReturn
      self.modeToReturn = modeToReturn
    }
  }

  /// Application Clusters § 4.3.10.4.
  public struct GetWeeklyScheduleResponse: ModelStruct {
    public var numberOfTransitionsForSequence: UInt8 = 0
    public var dayOfWeekForSequence: ScheduleDayOfWeek = []
    public var modeForSequence: ScheduleMode = []
    public var transitions: [WeeklyScheduleTransitionStruct] = []
    public static let fields: [Field<Self>] = [
      .init(0, "NumberOfTransitionsForSequence", \.numberOfTransitionsForSequence),
      .init(1, "DayOfWeekForSequence", \.dayOfWeekForSequence), .init(2, "ModeForSequence", \.modeForSequence),
      .init(3, "Transitions", \.transitions),
    ]

    public init() {}

    public init(
      numberOfTransitionsForSequence: UInt8, dayOfWeekForSequence: ScheduleDayOfWeek, modeForSequence: ScheduleMode,
      transitions: [WeeklyScheduleTransitionStruct]
    ) {
      self.numberOfTransitionsForSequence = numberOfTransitionsForSequence
      self.dayOfWeekForSequence = dayOfWeekForSequence
      self.modeForSequence = modeForSequence
      self.transitions = transitions
    }
  }

  /// Application Clusters § 4.3.10.8.
  public struct SetActiveScheduleRequest: ModelStruct {
    public var scheduleHandle: OctetString = []
    public static let fields: [Field<Self>] = [.init(0, "ScheduleHandle", \.scheduleHandle)]

    public init() {}

    public init(scheduleHandle: OctetString) { self.scheduleHandle = scheduleHandle }
  }

  /// Application Clusters § 4.3.10.9.
  public struct SetActivePresetRequest: ModelStruct {
    public var presetHandle: Nullable<OctetString> = .null
    public static let fields: [Field<Self>] = [.init(0, "PresetHandle", \.presetHandle)]

    public init() {}

    public init(presetHandle: Nullable<OctetString>) { self.presetHandle = presetHandle }
  }

  /// Begins, commits or rolls back a write of several attributes, which is done as a whole or not at all.
  public struct AtomicRequest: ModelStruct {
    public var requestType: AtomicRequestType = .beginWrite
    public var attributeRequests: [AttributeID] = []
    public var timeout: UInt16?
    public static let fields: [Field<Self>] = [
      .init(0, "RequestType", \.requestType), .init(1, "AttributeRequests", \.attributeRequests),
      .init(2, "Timeout", \.timeout),
    ]

    public init() {}

    public init(requestType: AtomicRequestType, attributeRequests: [AttributeID], timeout: UInt16? = nil) {
      self.requestType = requestType
      self.attributeRequests = attributeRequests
      self.timeout = timeout
    }
  }

  /// The result of an atomic write, in total and for each attribute. The timeout is in milliseconds.
  public struct AtomicResponse: ModelStruct {
    public var statusCode: StatusCode = .success
    public var attributeStatus: [AtomicAttributeStatusStruct] = []
    public var timeout: UInt16?
    public static let fields: [Field<Self>] = [
      .init(0, "StatusCode", \.statusCode), .init(1, "AttributeStatus", \.attributeStatus),
      .init(2, "Timeout", \.timeout),
    ]

    public init() {}

    public init(statusCode: StatusCode, attributeStatus: [AtomicAttributeStatusStruct], timeout: UInt16? = nil) {
      self.statusCode = statusCode
      self.attributeStatus = attributeStatus
      self.timeout = timeout
    }
  }
}
