package import HearthHome
public import HomeText
public import MatterClusters
internal import MatterDevice
public import MatterModel
public import MatterProtocol
public import Simulation
public import VirtualDevices

/// A scenario: a home, timed actions on it and the expected results.
public struct ScenarioDefinition: Sendable {
  /// The value of `scenario:`, or the name of the file without its folder and extension.
  public var name: String
  /// The devices, in the format of `hearth run`.
  public var home: HomeDefinition
  /// Whether all devices are commissioned before the first step.
  public var isPaired = true
  /// The time limit of a run, including the setup.
  public var limit: Duration = .seconds(86_400)
  /// Claims that must hold from the first step to the last.
  public var always: [Claim] = []
  /// Claims that must not hold at any time.
  public var never: [Claim] = []
  public var steps: [ScenarioStep] = []
  /// The files that define the scenario, with their contents, as needed for a replay.
  public var files: [SourceFile] = []
  /// A seeded defect that makes the scenario fail.
  public var defect: SeededDefect?
  /// The value of the variable of `vary`; nil for a file without one.
  public var variant: Int?
}

/// The name and the contents of a file.
public struct SourceFile: Hashable, Sendable, Codable {
  /// The path that was given for the file.
  public var name: String
  /// The contents.
  public var text: String

  public init(_ name: String, _ text: String) { (self.name, self.text) = (name, text) }
}

/// One action or expectation of a scenario.
public struct ScenarioStep: Sendable {
  /// When a step begins.
  public enum Time: Hashable, Sendable {
    /// At a time since the first step began.
    case at(Duration)
    /// At a time since the previous step ended.
    case after(Duration)
  }

  /// An action on the home, a device or the network, or an expectation.
  public enum Action: Sendable {
    /// Waits.
    case wait(Duration)
    /// Switches the power of a device, or with `hub` of the machine that runs the home.
    case power(device: String, PowerAction)
    /// Cuts the power at the effect that follows `afterEffects` more effects.
    case powerCut(device: String, afterEffects: Int)
    /// Injects a fault into the network around one machine.
    case network(device: String, NetworkFault)
    /// Adds devices behind a bridge.
    case add(bridge: String, [DeviceDefinition])
    /// Removes a device from its bridge.
    case remove(bridge: String, device: String)
    /// Replaces the faults of a device itself.
    case faults(device: String, DeviceFaults)
    /// Changes the addresses of a machine.
    case address(device: String)
    /// Moves the wall clock of a machine forward, or backward if negative.
    case clock(device: String, by: Duration)
    /// Sets the drift of a machine's clocks, in parts per million; negative: slow.
    case drift(device: String, millionths: Int64)
    /// Commissions a device into a second fabric, which opens `times` sessions without closing any.
    case compete(device: String, times: Int)
    /// Commissions a device into a second fabric, which requests `count` subscriptions and keeps those it is granted.
    case subscriptions(device: String, count: Int)
    /// Sends a command to the home.
    case command(HomeCommand)
    /// Changes an attribute at the device itself.
    case set(device: String, AttributePlace, value: [UInt8])
    /// Moves a part of the device that no attribute describes, such as a door.
    case part(device: String, name: String, on: UInt16?, state: String)
    /// Presses a button of a switch.
    case press(device: String, Press, button: Int)
    /// Succeeds when all claims hold at the same time, within the duration.
    case expect([Claim], within: Duration)
  }

  public var time: Time
  public var action: Action
  public var mark: SourceMark
  /// The step as shown in reports: “power lamp off”.
  public var text: String
  /// Whether this is the first of the steps that one entry of the file expands to, for several devices or repetitions.
  public var isFirst = true

  /// The step with its position in the file, shown while it runs: `lamp.yaml:7:5: power lamp off`.
  var name: String { "\(mark): \(text)" }

  /// The same with the step's time, shown until the step begins.
  var nameWithTime: String {
    switch time {
    case .at(let point): "\(name), at \(TimeText.text(point))"
    case .after(let pause): "\(name), after \(TimeText.text(pause))"
    }
  }

  /// Whether the step changes anything: false for waits and expectations.
  var doesSomething: Bool {
    switch action {
    case .wait, .expect: false
    default: true
    }
  }
}

/// A change of a machine's power.
public enum PowerAction: String, CaseIterable, Sendable { case on, off, cycle }

/// A way of pressing a button.
public enum Press: String, CaseIterable, Sendable {
  case short, long, double

  /// The positions of the button, with the pause before each.
  var moves: [SwitchMove] {
    switch self {
    case .short: [SwitchMove(to: 1), SwitchMove(to: 0, after: .milliseconds(50))]
    case .long: [SwitchMove(to: 1), SwitchMove(to: 0, after: .seconds(2))]
    case .double:
      Press.short.moves + [SwitchMove(to: 1, after: .milliseconds(100)), SwitchMove(to: 0, after: .milliseconds(50))]
    }
  }
}

/// A fault in the network around one machine.
public enum NetworkFault: Hashable, Sendable {
  /// Drops all datagrams to and from the machine.
  case partition
  /// Drops the datagrams that the machine sends.
  case mute
  /// Drops the datagrams to the machine.
  case deaf
  /// Removes all faults.
  case heal
  /// Sets loss, latency and other link conditions, in both directions.
  case conditions(LinkConditions)
  /// Switches multicast, and with it service discovery.
  case multicast(Bool)
  /// Moves the machine to the network of this name, behind a router: known unicast addresses stay reachable, but
  /// neither multicast nor service discovery passes.
  case place(String)
  /// Switches the addresses of one IP family.
  case family(IPFamily, isOn: Bool)
}

/// One or several targets of a command.
public enum TargetName: Hashable, Sendable {
  /// A device by its path in the definition.
  case device(String)
  /// The devices of `ROOM/*`, `group:NAME` or `*` that serve the cluster of the command.
  case several(String)
}

/// A command to the home.
public enum HomeCommand: Hashable, Sendable {
  /// Switches the devices.
  case turn([TargetName], SwitchAction)
  /// Sets the level, 0 to 254.
  case level([TargetName], WantedLevel)
  /// Commissions the device.
  case pair(String)
  /// Renames the device.
  case rename(String, to: String)
  /// Sets the color of the devices.
  case color([TargetName], LightColor)
  /// Removes the device from the home.
  case remove(String)
  /// Binds the first device to the second, which it then controls.
  case bind(String, to: String)
  /// Removes all bindings of the first device to the second.
  case unbind(String, from: String)
  /// Opens a commissioning window for 3 to 15 minutes.
  case share(String, for: Duration)
  /// Writes an attribute; the value is one TLV element.
  case write(String, AttributePlace, value: [UInt8])
  /// Invokes a command; the fields are a TLV structure. The endpoint is numbered within the device.
  case invoke(String, ClusterID, CommandID, on: UInt16?, fields: [UInt8], isTimed: Bool)
  /// Changes or controls a group.
  case group(GroupAction)
  /// Changes the rooms.
  case room(RoomAction)
  /// Stores, recalls or removes a scene.
  case scene(SceneAction)
  /// Changes the homes, which are buildings.
  case home(HomeAction)
  /// Changes the access control list of a device.
  case access(AccessAction)
  /// Removes a device from another fabric.
  case removeFabric(FabricIndex, from: String)
  /// Announces a provider of software to a device.
  case update(String, from: String)

  /// A change of the homes.
  public enum HomeAction: Hashable, Sendable {
    /// Adds a home.
    case add(String)
    /// Renames a home.
    case rename(String, to: String)
    /// Removes a home without devices, and its rooms.
    case remove(String)
    /// Chooses the home that new rooms and devices are added to.
    case choosePrimary(String)
    /// Sets how long a device must be away before its settled connectivity changes.
    case setGraceTime(Duration)
  }

  /// A change of an access control list.
  public enum AccessAction: Hashable, Sendable {
    /// Adds an entry, with these devices as more subjects.
    case grant(AccessControl.AccessControlEntryStruct, to: [String], on: String)
    /// Removes the entry with this number, counted from 1.
    case revoke(Int, on: String)
  }

  /// A change of a group, or a command to its members.
  public enum GroupAction: Hashable, Sendable {
    /// Creates a group.
    case create(String)
    /// Deletes a group.
    case delete(String)
    /// Adds devices to a group.
    case add([TargetName], to: String)
    /// Removes devices from a group.
    case remove([TargetName], from: String)
    /// Sends a command to all members in one groupcast message; the fields are a TLV structure.
    case invoke(String, ClusterID, CommandID, fields: [UInt8])
  }

  /// A change of the rooms.
  public enum RoomAction: Hashable, Sendable {
    /// Adds a room.
    case add(String)
    /// Renames a room.
    case rename(String, to: String)
    /// Removes a room; its devices stay in the home.
    case remove(String)
    /// Assigns devices to a room.
    case assign([TargetName], to: String)
  }

  /// A command for a scene by its name, on the devices or, if `of` is empty, on all devices.
  public enum SceneAction: Hashable, Sendable {
    /// Stores the current state.
    case store(String, of: [TargetName])
    /// Recalls the stored state.
    case recall(String, of: [TargetName])
    /// Removes the scene from the devices.
    case remove(String, of: [TargetName])
  }
}

/// An attribute of a device.
public struct AttributePlace: Hashable, Sendable {
  public var cluster: ClusterID
  public var attribute: AttributeID
  /// The endpoint, numbered within the device from 1, with 0 for that of the node; nil for the first one that has the
  /// attribute.
  public var endpoint: UInt16?
  /// The levels that the device has, by its definition.
  package var levels = LevelRange.standard

  public init(_ cluster: ClusterID, _ attribute: AttributeID, on endpoint: UInt16? = nil) {
    (self.cluster, self.attribute, self.endpoint) = (cluster, attribute, endpoint)
  }
}

/// A condition that a scenario expects.
public struct Claim: Sendable {
  /// The observed value and the expected one.
  public enum Subject: Hashable, Sendable {
    /// The connectivity of a device according to the home.
    case connectivity(device: String, is: String)
    /// The data source locality of a device according to the home.
    case locality(device: String, is: String)
    /// An attribute according to the home; the device must be online.
    case attribute(device: String, AttributePlace, is: [UInt8], hasUnit: Bool)
    /// An attribute of the device itself.
    case actual(device: String, AttributePlace, is: [UInt8])
    /// An event that the home received since the last action began; in “always” and “never” since the first step.
    case event(device: String, EventCondition)
    /// The number of datagrams sent since the last action began, by all machines or by one; in “always” and “never”
    /// since the first step.
    case messages(of: String?, Comparison)
  }

  /// A filter of events.
  public struct EventCondition: Hashable, Sendable {
    public var cluster: ClusterID
    public var event: EventID
    /// Expected fields by their IDs, each one TLV element.
    public var fields: [UInt8: [UInt8]] = [:]
    /// The index of the endpoint among those with the cluster, from 0; nil for any.
    public var button: Int?
    /// The endpoint, numbered within the device; nil for any.
    public var endpoint: UInt16?
  }

  /// A comparison with a number.
  public struct Comparison: Hashable, Sendable {
    /// The relation of the counted number to ``number``.
    public enum Relation: String, CaseIterable, Sendable {
      case atMost = "<=", atLeast = ">=", below = "<", above = ">", equal = "="
    }
    public var relation: Relation
    /// The number to compare with.
    public var number: Int

    func holds(_ value: Int) -> Bool {
      switch relation {
      case .atMost: value <= number
      case .atLeast: value >= number
      case .below: value < number
      case .above: value > number
      case .equal: value == number
      }
    }
  }

  public var subject: Subject
  public var mark: SourceMark
  /// The left side as written in the file: `lamp.onOff`.
  public var name: String
  /// The expected value as written in the file: `true`.
  public var value: String

  /// The claim as written in the file: `lamp.onOff: true`.
  public var text: String { "\(name): \(value)" }
}
