import MakersClusters
import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

@Suite("Servers of manufacturers' clusters") struct MakersClusterServerTests {
  private static let text = """
    cluster 0xFFF1FC40 TestFan "Test Fan" revision 1
    feature 0 TRB Turbo
    attribute 0x0000 Speed  uint8  max 100 nonvolatile write operate = 10
    attribute 0x0001 IsTurbo  bool  TRB = false
    attribute 0x0002 Offset  int8  = 0
    attribute 0x0003 Label  string  O max 4 = "a"
    attribute 0x0004 Limit  uint8  Label nullable = null
    command 0x00 GoToSpeed
      0 Speed uint8
      1 Time uint16 O
      emit Requested Speed = field.Speed Previous = attribute.Speed
      transition Speed to field.Speed over field.Time tenths
    command 0x01 Step
      0 Difference int8
      add field.Difference to Speed
    command 0x02 ToggleTurbo TRB invoke manage
      toggle IsTurbo
    command 0x03 Assign
      0 Speed uint8
      1 Offset int8
      set Offset = field.Offset
      set Speed = field.Speed
      emit Requested Speed = attribute.Speed
    command 0x04 Status -> StatusResponse
      answer Speed = attribute.Speed
    response 0x05 StatusResponse
      0 Speed uint8
      1 Note string O
    event 0x00 Requested info
      0 Speed uint8
      1 Previous uint8 O
    """

  /// The same cluster in Swift, as a typed client has it.
  private enum Fan: Cluster {
    static let id: ClusterID = 0xFFF1_FC40, revision: UInt16 = 1, name = "TestFan"
    static let speed = Attribute<Self, UInt8>(0, "Speed"), isTurbo = Attribute<Self, Bool>(1, "IsTurbo")
    static let offset = Attribute<Self, Int8>(2, "Offset"), label = Attribute<Self, String>(3, "Label")
    static let goToSpeed = Command<Self, GoToSpeed, NoFields>(0, "GoToSpeed")
    static let step = Command<Self, Step, NoFields>(1, "Step")
    static let toggleTurbo = Command<Self, NoFields, NoFields>(2, "ToggleTurbo")
    static let assign = Command<Self, Assign, NoFields>(3, "Assign")
    static let status = Command<Self, NoFields, StatusResponse>(4, "Status", response: 5)
    static let elements: [any ClusterElement] = []

    struct GoToSpeed: ModelStruct {
      var speed: UInt8 = 0
      var time: UInt16?
      static let fields: [Field<Self>] = [.init(0, "Speed", \.speed), .init(1, "Time", \.time)]
    }
    struct Step: ModelStruct {
      var difference: Int8 = 0
      static let fields: [Field<Self>] = [.init(0, "Difference", \.difference)]
    }
    struct Assign: ModelStruct {
      var speed: UInt8 = 0
      var offset: Int8 = 0
      static let fields: [Field<Self>] = [.init(0, "Speed", \.speed), .init(1, "Offset", \.offset)]
    }
    struct StatusResponse: ModelStruct {
      var speed: UInt8 = 0
      var note: String?
      static let fields: [Field<Self>] = [.init(0, "Speed", \.speed), .init(1, "Note", \.note)]
    }
  }

  private static func server(_ names: [String] = ["TRB"]) throws -> ClusterServer {
    .makers(try MakersCluster(text, file: "fan.cluster"), serving: names)
  }

  private func speeds(_ node: TestNode) -> [UInt8] {
    node.reports.filter { $0.path.cluster == Fan.id && $0.path.attribute == 0 }.compactMap { try? UInt8(tlv: $0.value) }
  }

  private func events(_ node: TestNode) -> [[UInt8]] {
    node.context.node.events.records.filter { $0.path.cluster == Fan.id }.map(\.payload)
  }

  @Test func servesElementsByConformance() throws {
    let plain = try Self.server([])
    #expect(
      plain.features == 0 && plain.attributes.keys.sorted() == [0, 2] && plain.commands.keys.sorted() == [0, 1, 3, 4])
    let turbo = try Self.server(["TRB", "Label"])
    #expect(turbo.features == 1 && turbo.attributes.keys.sorted() == [0, 1, 2, 3, 4])
    #expect(turbo.commands.keys.sorted() == [0, 1, 2, 3, 4] && turbo.commands[2]?.info.privilege == .manage)
    #expect(turbo.violations.isEmpty && plain.violations.isEmpty)
    #expect(try Self.server(["IsTurbo"]).violations.count == 1)
  }

  @Test func setsTogglesAndAdds() throws {
    let node = TestNode([try Self.server()])
    try node.invoke(Fan.toggleTurbo)
    #expect(node[Fan.isTurbo])
    try node.invoke(Fan.step, .init(difference: -4))
    #expect(node[Fan.speed] == 6)
    // Within the range of the attribute.
    try node.invoke(Fan.step, .init(difference: -100))
    #expect(node[Fan.speed] == 0)
    try node.invoke(Fan.assign, .init(speed: 90, offset: -3))
    try node.invoke(Fan.step, .init(difference: 100))
    #expect(node[Fan.speed] == 100 && node[Fan.offset] == -3)
    #expect(try node.invoke(Fan.status, NoFields())?.speed == 100)
  }

  @Test func refusedCommandChangesNothing() throws {
    let node = TestNode([try Self.server()])
    let error = #expect(throws: StatusError.self) { try node.invoke(Fan.assign, .init(speed: 101, offset: 5)) }
    #expect(error?.status.code == .constraintError)
    #expect(node[Fan.offset] == 0 && node[Fan.speed] == 10 && events(node).isEmpty)
    let missing = #expect(throws: StatusError.self) {
      try node.invoke(Command<Fan, NoFields, NoFields>(3, "Assign"), NoFields())
    }
    #expect(missing?.status.code == .invalidCommand)
  }

  @Test func emitsEvents() throws {
    let node = TestNode([try Self.server()])
    try node.invoke(Fan.goToSpeed, .init(speed: 50))
    try node.invoke(Fan.assign, .init(speed: 60, offset: 0))
    #expect(node[Fan.speed] == 60)
    // Speed and Previous; the value of the preceding effect without Previous.
    #expect(events(node) == [[0x15, 0x24, 0, 50, 0x24, 1, 10, 0x18], [0x15, 0x24, 0, 60, 0x18]])
  }

  @Test func movesOverATime() throws {
    let node = TestNode([try Self.server()])
    try node.invoke(Fan.goToSpeed, .init(speed: 20, time: 50))
    #expect(node[Fan.speed] == 10)
    node.wait(2500)
    #expect(node[Fan.speed] == 15)
    node.wait(10000)
    #expect(speeds(node) == Array(11...20) && node.context.node.timers.isEmpty)
  }

  @Test func commandsAndWritesEndTransitions() throws {
    let node = TestNode([try Self.server()])
    try node.invoke(Fan.goToSpeed, .init(speed: 100, time: 100))
    node.wait(1000)
    try node.invoke(Fan.assign, .init(speed: 7, offset: 0))
    node.wait(20000)
    #expect(node[Fan.speed] == 7)
    try node.invoke(Fan.goToSpeed, .init(speed: 100, time: 100))
    node.wait(1000)
    try node.write(Fan.speed, 3)
    node.wait(20000)
    #expect(node[Fan.speed] == 3)
  }

  @Test func checksWrites() throws {
    let node = TestNode([try Self.server()])
    let error = #expect(throws: StatusError.self) { try node.write(Fan.speed, 101) }
    #expect(error?.status.code == .constraintError)
    let type = #expect(throws: StatusError.self) { try node.write(Fan.speed, encoded: "1".tlv) }
    #expect(type?.status.code == .invalidDataType)
  }

  @Test func nonvolatileValuesSurviveARestart() throws {
    let server = try Self.server()
    let node = TestNode([server])
    try node.invoke(Fan.assign, .init(speed: 42, offset: 9))
    let restarted = TestNode([server], stored: node.stored)
    #expect(restarted[Fan.speed] == 42 && restarted[Fan.offset] == 0)
  }

  @Test("transitions are linear and end at their target") func transitions() {
    let start = Instant.zero + .seconds(1)
    var transition = ValueTransition(from: 5, to: -5, over: .seconds(1), at: start)
    #expect(transition.value == 5 && transition.nextChange == start + .milliseconds(100))
    transition.advance(to: start + .milliseconds(500))
    #expect(transition.value == 0)
    transition.advance(to: start + .seconds(1))
    #expect(transition.value == -5 && transition.nextChange == nil)
    var extreme = ValueTransition(from: .min, to: .max, over: .seconds(10), at: .zero)
    extreme.advance(to: .zero + .seconds(5))
    #expect(abs(extreme.value) < 1 << 20 && extreme.nextChange == .zero + .milliseconds(5100))
    extreme.advance(to: .zero + .seconds(10))
    #expect(extreme.value == .max)
    #expect(ValueTransition(from: 1, to: 9, over: .zero, at: .zero).value == 9)
  }
}
