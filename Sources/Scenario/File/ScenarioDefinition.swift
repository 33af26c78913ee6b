public import Home
internal import MatterDevice
public import MatterModel
public import MatterProtocol
public import Simulation
public import VirtualDevices

/// A scenario: a home, what happens to it at which time, and what is expected to come of that.
public struct ScenarioDefinition: Sendable {
  /// What `scenario:` says, else the file's name without its folders and ending.
  public var name: String
  /// The devices, as `hearth run` takes them.
  public var home: HomeDefinition
  /// Whether all devices are commissioned when it begins.
  public var isPaired = true
  /// How long it may take, with the setting up.
  public var limit: Duration = .seconds(86_400)
  /// What has to hold all the time, from the beginning of the steps to their end.
  public var always: [Claim] = []
  /// What must not hold at any time.
  public var never: [Claim] = []
  public var steps: [ScenarioStep] = []
  /// The files that it was read from, with their text: what it takes to run it again.
  public var files: [SourceFile] = []
  /// A fault that it finds, where one is built into the home and the devices on purpose.
  public var defect: SeededDefect?
  /// The number that it stands for, where its file says “vary”.
  public var variant: Int?
}

/// A file as it was read.
public struct SourceFile: Hashable, Sendable, Codable {
  /// As it was named.
  public var name: String
  /// All of it.
  public var text: String

  public init(_ name: String, _ text: String) { (self.name, self.text) = (name, text) }
}

/// One thing that is done or expected.
public struct ScenarioStep: Sendable {
  /// When a step begins.
  public enum Time: Hashable, Sendable {
    /// Since the beginning of the steps.
    case at(Duration)
    /// Since the end of the step before.
    case after(Duration)
  }

  /// What somebody does, what happens, or what is expected.
  public enum Action: Sendable {
    /// Nothing is done for so long.
    case wait(Duration)
    /// At a machine's plug, or at the home's own with `hub`.
    case power(device: String, PowerAction)
    /// Takes the power away at the effect that comes after so many more.
    case powerCut(device: String, afterEffects: Int)
    /// Changes the network around one machine.
    case network(device: String, NetworkFault)
    /// Gives a machine another address.
    case address(device: String)
    /// Puts a machine's wall clock forward, or back.
    case clock(device: String, by: Duration)
    /// Lets a machine's clocks go faster from now on, or slower, in millionths.
    case drift(device: String, millionths: Int64)
    /// A second administrator gets into a device, and opens so many sessions without closing any.
    case rival(device: String, times: Int)
    /// A second administrator gets into a device, asks for so many subscriptions, and keeps what it gets.
    case subscriptions(device: String, count: Int)
    /// What somebody says to the home.
    case command(HomeCommand)
    /// What somebody does to the device itself.
    case set(device: String, AttributePlace, value: [UInt8])
    /// Somebody presses a switch.
    case press(device: String, Press, button: Int)
    /// All claims hold at one moment within this time.
    case expect([Claim], within: Duration)
  }

  public var time: Time
  public var action: Action
  public var mark: SourceMark
  /// As it is told in a report: “power lamp off”.
  public var text: String
  /// Whether it is the first of those that the file says in one step, for several devices or several times.
  public var isFirst = true

  /// What is told of it while it goes on: `lamp.yaml:7:5: power lamp off`.
  var name: String { "\(mark): \(text)" }

  /// The same while its time is waited for.
  var nameWithTime: String {
    switch time {
    case .at(let point): "\(name), at \(TimeText.text(point))"
    case .after(let pause): "\(name), after \(TimeText.text(pause))"
    }
  }

  /// Whether anything happens by it: not where it is only waited or looked.
  var doesSomething: Bool {
    switch action {
    case .wait, .expect: false
    default: true
    }
  }
}

/// What is done to the power of a machine.
public enum PowerAction: String, CaseIterable, Sendable { case on, off, cycle }

/// How somebody presses a switch.
public enum Press: String, CaseIterable, Sendable {
  case short, long, double

  /// What the hand does.
  var moves: [SwitchMove] {
    switch self {
    case .short: [SwitchMove(to: 1), SwitchMove(to: 0, after: .milliseconds(50))]
    case .long: [SwitchMove(to: 1), SwitchMove(to: 0, after: .seconds(2))]
    case .double:
      Press.short.moves + [SwitchMove(to: 1, after: .milliseconds(100)), SwitchMove(to: 0, after: .milliseconds(50))]
    }
  }
}

/// What is injected into the network around one machine.
public enum NetworkFault: Hashable, Sendable {
  /// Nobody reaches it, and it reaches nobody.
  case partition
  /// What it sends gets nowhere, though it is reached.
  case mute
  /// What is sent to it does not arrive, though it is heard.
  case deaf
  /// Nothing is wrong any more.
  case heal
  /// Loss, latency and the like on the way to it and from it.
  case conditions(LinkConditions)
  /// Whether multicast, and with it service discovery, works.
  case multicast(Bool)
  /// It is in another network, of this name, with a router between it and the home's own: it can be reached at the
  /// addresses that are known of it, but neither multicast nor service discovery gets through.
  case place(String)
  /// Whether it has addresses of a family.
  case family(IPFamily, isOn: Bool)
}

/// What somebody says to the home.
public enum HomeCommand: Hashable, Sendable {
  /// To the device with this name.
  case on(String), off(String), toggle(String)
  /// 0 to 254.
  case level(String, WantedLevel)
  /// Commissions the device with this name.
  case pair(String)
  /// Gives the device with the first name the second one.
  case rename(String, to: String)
  /// Gives the device a color.
  case color(String, LightColor)
  /// Takes the device out of the home.
  case remove(String)
  /// Lets the first device control the second.
  case bind(String, to: String)
  /// Ends all control of the second device by the first.
  case unbind(String, from: String)
  /// Opens a commissioning window of the device, for 3 to 15 minutes.
  case share(String, for: Duration)
  /// Writes an attribute of the device; the value is one element of TLV.
  case write(String, AttributePlace, value: [UInt8])
  /// Invokes a command on the device; the fields are a structure in TLV.
  case invoke(String, ClusterID, CommandID, fields: [UInt8], isTimed: Bool)
  /// Changes or uses a group.
  case group(GroupAction)
  /// Changes a room.
  case room(RoomAction)
  /// Stores, recalls or removes a scene.
  case scene(SceneAction)

  /// A change of a group, or a command to all its members.
  public enum GroupAction: Hashable, Sendable {
    /// Makes a group with this name.
    case create(String)
    /// Removes the group.
    case delete(String)
    /// Makes a device a member.
    case add(device: String, to: String)
    /// Ends a device's membership.
    case remove(device: String, from: String)
    /// Switches all members with one message.
    case turn(String, SwitchAction)
  }

  /// A change of the rooms.
  public enum RoomAction: Hashable, Sendable {
    /// Adds a room with this name.
    case add(String)
    /// Gives the first room the second name.
    case rename(String, to: String)
    /// Removes the room; its devices stay in the home.
    case remove(String)
    /// Puts a device into a room.
    case assign(device: String, to: String)
  }

  /// A command about the scene with this name; `of` nil: on all devices.
  public enum SceneAction: Hashable, Sendable {
    /// Stores the present state.
    case store(String, of: String?)
    /// Restores the stored state.
    case recall(String, of: String?)
    /// Removes the scene from the devices.
    case remove(String, of: String?)
  }
}

/// An attribute of a device, wherever the device has it.
public struct AttributePlace: Hashable, Sendable {
  public var cluster: ClusterID
  public var attribute: AttributeID
  /// The levels that the device has, by its definition.
  package var levels = LevelRange.standard

  public init(_ cluster: ClusterID, _ attribute: AttributeID) { (self.cluster, self.attribute) = (cluster, attribute) }
}

/// Something that may hold, or not.
public struct Claim: Sendable {
  /// What the claim is about, and what it is to be.
  public enum Subject: Hashable, Sendable {
    /// What the home says of a device's connectivity.
    case connectivity(device: String, is: String)
    /// What the home says of where a device's data come from.
    case locality(device: String, is: String)
    /// What the home says, of a device that is online.
    case attribute(device: String, AttributePlace, is: [UInt8], hasUnit: Bool)
    /// What the device itself holds.
    case actual(device: String, AttributePlace, is: [UInt8])
    /// An event that the home received since the last thing that was done began; in “always” and “never”: since the beginning of
    /// the steps.
    case event(device: String, EventCondition)
    /// Datagrams that were sent since the last thing that was done began, by everybody or by one machine; in “always” and
    /// “never”: since the beginning of the steps.
    case messages(of: String?, Comparison)
  }

  /// Which events are meant.
  public struct EventCondition: Hashable, Sendable {
    public var cluster: ClusterID
    public var event: EventID
    /// What fields of the event are, by their ids: each one element of TLV.
    public var fields: [UInt8: [UInt8]] = [:]
    /// Which of the device's endpoints with the cluster, from 0; nil: any.
    public var button: Int?
  }

  /// A number compared with another.
  public struct Comparison: Hashable, Sendable {
    /// How the number that is counted is to be to the one that is named.
    public enum Relation: String, CaseIterable, Sendable {
      case atMost = "<=", atLeast = ">=", below = "<", above = ">", equal = "="
    }
    public var relation: Relation
    /// What it is compared with.
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
  /// What it is about, as it stands in the file: `lamp.onOff`.
  public var name: String
  /// What that is to be, as it stands in the file: `true`.
  public var value: String

  /// As it stands in the file: `lamp.onOff: true`.
  public var text: String { "\(name): \(value)" }
}
