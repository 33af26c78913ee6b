import Foundation
import Glibc
import Logging
import MatterClusters
import MatterDevice
import MatterModel
import MatterProtocol
import NIOCore
import NIOPosix
import Runtime
import Testing

@testable import VirtualDevices

/// A fleet in this process, on loopback, controlled over its socket as by another process.
@Suite("Control socket", .serialized) struct ControlTests {
  private struct Running {
    let directory: String
    let group: MultiThreadedEventLoopGroup
    let fleet: Fleet

    init(_ text: String, discovery: ServiceDiscovery.Mode = .off) async throws {
      directory = FileManager.default.temporaryDirectory.path + "/hearth-control-" + UUID().uuidString
      var options = FleetOptions(devicesDirectory: directory + "/devices", runDirectory: directory + "/run")
      options.discovery = discovery
      group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
      fleet = try await Fleet.start(
        try HomeDefinition.load(simulating: [("home.yaml", text)]), options, on: group, logger: Logger(label: "test"))
    }

    /// Sends a request on another thread, since the client blocks.
    func send(_ request: ControlRequest) async throws -> ControlReply {
      let run = directory + "/run"
      return try await NIOThreadPool.singleton.runIfActive {
        try ControlClient.send(request, toProcess: getpid(), in: run)
      }
    }

    /// Returns the error code of a request, or nil.
    func errorCode(_ request: ControlRequest) async throws -> ControlError.Code? {
      do {
        _ = try await send(request)
        return nil
      } catch let error as ControlError {
        return error.code
      }
    }

    /// Sends bytes that are not a request.
    func send(raw text: String) async throws -> String {
      let path = directory + "/run/\(getpid()).sock"
      return try await NIOThreadPool.singleton.runIfActive {
        let socketDirectory = try #require(SocketPath.Directory(of: path))
        defer { socketDirectory.close() }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) {
          $0.copyBytes(from: socketDirectory.short.utf8.prefix($0.count - 1))
        }
        let status = withUnsafePointer(to: &address) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
          }
        }
        guard status == 0 else { return "no connection" }
        let bytes = Array(text.utf8)
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
      }
    }

    func stop() async {
      await fleet.stop()
      try? await group.shutdownGracefully()
      try? FileManager.default.removeItem(atPath: directory)
    }
  }

  private static let lamp = "devices:\n  - { name: Lamp, room: Den, type: dimmable light }\n"

  private func running<R>(
    _ text: String = lamp, discovery: ServiceDiscovery.Mode = .off, _ body: (Running) async throws -> R
  ) async throws -> R {
    let running = try await Running(text, discovery: discovery)
    do {
      let result = try await body(running)
      await running.stop()
      return result
    } catch {
      await running.stop()
      throw error
    }
  }

  @Test("causes a test event of the first endpoint that has it", .timeLimit(.minutes(10)))
  func causesTestEvents() async throws {
    try await running("devices:\n  - { name: Motion, type: occupancy sensor }\n") { (fleet: Running) async throws in
      // The number without an endpoint, as certification tests send it.
      let reply = try await fleet.send(.trigger(device: "Motion", event: "0x0406000000000000"))
      #expect(reply.events?.map(\.trigger) == [0x0406_0001_0000_0000])
      #expect(try await fleet.errorCode(.trigger(device: "Motion", event: "0x0406000000000077")) == .notFound)
    }
  }

  @Test(.timeLimit(.minutes(10))) func setsAndReadsAttributes() async throws {
    try await running { (fleet: Running) async throws in
      let onOff = (cluster: OnOff.id.rawValue, attribute: OnOff.onOff.id.rawValue)
      func isOn() async throws -> Bool {
        let reply = try await fleet.send(
          .get(device: "Den/Lamp", endpoint: nil, cluster: onOff.cluster, attribute: onOff.attribute))
        return try Bool(tlv: reply.value ?? [])
      }
      let before = try await isOn()
      _ = try await fleet.send(
        .set(
          device: "Den/Lamp", endpoint: 1, cluster: onOff.cluster, attribute: onOff.attribute, value: (!before).tlv))
      #expect(try await isOn() == !before)
      let status = try #require(try await fleet.send(.status).fleet)
      // The file contains passcodes.
      let file = fleet.directory + "/run/\(getpid()).json"
      #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
      #expect(status.process == getpid() && status.devices.map(\.path) == ["Den/Lamp"])
      #expect(status.devices.first?.onOff == !before && status.devices.first?.isPowered == true)
      #expect(FleetStatus.running(in: fleet.directory + "/run").map(\.process) == [getpid()])
    }
  }

  @Test(.timeLimit(.minutes(10))) func rejectsImpossibleRequests() async throws {
    try await running { (fleet: Running) async throws in
      func set(_ device: String, _ cluster: ClusterID, _ attribute: AttributeID, _ value: [UInt8]) -> ControlRequest {
        .set(device: device, endpoint: nil, cluster: cluster.rawValue, attribute: attribute.rawValue, value: value)
      }
      #expect(try await fleet.errorCode(set("Den/Lump", OnOff.id, OnOff.onOff.id, true.tlv)) == .notFound)
      #expect(try await fleet.errorCode(set("Den/Lamp", DoorLock.id, 0, true.tlv)) == .notFound)
      #expect(try await fleet.errorCode(set("Den/Lamp", OnOff.id, 0x99, true.tlv)) == .notFound)
      #expect(try await fleet.errorCode(set("Den/Lamp", OnOff.id, OnOff.onOff.id, UInt8(5).tlv)) == .refused)
      #expect(try await fleet.errorCode(set("Den/Lamp", OnOff.id, OnOff.onOff.id, [])) != nil)
      let unnamed = await #expect(throws: ControlError.self) {
        _ = try await fleet.send(set("Den/Lamp", OnOff.id, OnOff.startUpOnOff.id, UInt8(7).tlv))
      }
      #expect(unnamed?.message == "the value is out of range; expected Off (0), On (1) or Toggle (2)")
      #expect(try await fleet.errorCode(.move(device: "Den/Lamp", button: 0, moves: [])) == .refused)
      #expect(try await fleet.errorCode(.move(device: "Den/Lamp", button: 5, moves: [])) == .notFound)
      for button in [Int.max, .min, -1] {
        #expect(try await fleet.errorCode(.move(device: "Den/Lamp", button: button, moves: [])) == .notFound)
      }
      let long = [ControlRequest.Move](repeating: .init(position: 1, after: 1), count: 1001)
      #expect(try await fleet.errorCode(.move(device: "Den/Lamp", button: 0, moves: long)) == .badRequest)
      #expect(
        try await fleet.errorCode(.move(device: "Den/Lamp", button: 0, moves: [.init(position: 1, after: -1)]))
          == .badRequest)
      // The fleet still answers.
      #expect(try await fleet.send(.status).fleet != nil)
    }
  }

  @Test("states ranges with units, and levels in percent of the highest", .timeLimit(.minutes(10)))
  func unitsAndLevels() async throws {
    let home = """
      devices:
        - { name: Radiator, type: thermostat }
        - { name: Occupancy, type: occupancy sensor }
        - { name: Pump, type: pump, attributes: { onOff.onOff: true, levelControl.currentLevel: 120 } }
      """
    try await running(home) { (fleet: Running) async throws in
      func refusal(_ device: String, _ cluster: ClusterID, _ attribute: AttributeID, _ value: [UInt8]) async -> String?
      {
        let error = await #expect(throws: ControlError.self) {
          _ = try await fleet.send(
            .set(device: device, endpoint: nil, cluster: cluster.rawValue, attribute: attribute.rawValue, value: value))
        }
        return error?.message
      }
      #expect(
        await refusal("Radiator", Thermostat.id, Thermostat.occupiedHeatingSetpoint.id, Int16(9000).tlv)
          == "the value is out of range; expected 7.0 °C to 30.0 °C")
      #expect(
        await refusal("Occupancy", OccupancySensing.id, OccupancySensing.occupancy.id, UInt8(200).tlv)
          == "the value is out of range; expected 0 or Occupied (1)")
      #expect(
        await refusal("Radiator", Thermostat.id, Thermostat.systemMode.id, Thermostat.SystemMode.sleep.tlv)
          == "the value is out of range; expected Off (0), Auto (1), Cool (3) or Heat (4)")
      #expect(
        await refusal("Pump", LevelControl.id, LevelControl.currentLevel.id, UInt8(201).tlv)
          == "the value is out of range; expected 1 to 200")
      #expect(try await fleet.send(.status).fleet?.devices.map(\.state).last == "on 60%")
    }
  }

  @Test("refuses what the physical device can't change, and names what parts take", .timeLimit(.minutes(10)))
  func refusals() async throws {
    let home = """
      devices:
        - { name: Alarm, type: smoke CO alarm }
        - { name: Dimmer, type: dimmer switch }
        - { name: Fridge, type: refrigerator }
        - { name: Oven, type: oven }
        - { name: Fan, type: fan, attributes: { fanControl.percentSetting: 40 } }
        - { name: Still, type: fan }
      """
    try await running(home) { (fleet: Running) async throws in
      func refusal(_ request: ControlRequest) async -> String? {
        let error = await #expect(throws: ControlError.self) { _ = try await fleet.send(request) }
        return error?.message
      }
      func set<C: Cluster, Value: ModelValue>(_ attribute: MatterModel.Attribute<C, Value>, _ value: Value)
        -> ControlRequest
      {
        .set(
          device: "Alarm", endpoint: nil, cluster: C.id.rawValue, attribute: attribute.id.rawValue, value: value.tlv)
      }
      let fault = "the physical device can't change it; `hearth sim fault --data` lets it violate the standard"
      #expect(await refusal(set(Descriptor.deviceTypeList, [])) == fault)
      #expect(await refusal(set(Descriptor.serverList, [])) == fault)
      #expect(await refusal(set(BasicInformation.vendorName, "x")) == fault)
      #expect(await refusal(set(SmokeCoAlarm.expressedState, .testing)) == fault)
      #expect(
        await refusal(.part(device: "Dimmer", endpoint: nil, name: "dial", state: "foo"))
          == "the value is out of range; expected a level such as 40%")
      func door(_ endpoint: UInt16) -> ControlRequest {
        .part(device: "Fridge", endpoint: endpoint, name: "door", state: "open")
      }
      #expect(await refusal(door(9)) == "it has no endpoint 9; expected 0, 1, 2 or 3")
      #expect(await refusal(door(1)) == "it has no part “door” there; expected endpoint 2 or 3")
      let devices = try await fleet.send(.status).fleet?.devices ?? []
      let states = Dictionary(devices.map { ($0.name, $0.state) }) { first, _ in first }
      let expected = [
        "Fridge": "4.0 °C, -18.0 °C", "Oven": "stopped, 21.0 °C", "Fan": "fan medium, 40%", "Still": "fan off",
      ]
      for (name, state) in expected { #expect(states[name] == state) }
    }
  }

  private static let kitchen = """
    devices:
      - { name: Washer, room: Den, type: laundry washer }
      - { name: Hub, room: Den, type: bridge, devices: [{ name: Fridge, room: Den, type: refrigerator }] }
    """

  @Test(.timeLimit(.minutes(10))) func movesParts() async throws {
    try await running(Self.kitchen) { (fleet: Running) async throws in
      func move(_ device: String, _ part: String, _ state: String, _ endpoint: UInt16? = nil) -> ControlRequest {
        .part(device: device, endpoint: endpoint, name: part, state: state)
      }
      #expect(try await fleet.errorCode(move("Den/Washer", "Door", "OPEN")) == nil)
      let state = OperationalState.operationalState
      func press(_ value: OperationalState.OperationalState) -> ControlRequest {
        .set(
          device: "Den/Washer", endpoint: nil, cluster: OperationalState.id.rawValue, attribute: state.id.rawValue,
          value: value.tlv)
      }
      let open = await #expect(throws: ControlError.self) { _ = try await fleet.send(press(.running)) }
      #expect(open?.code == .refused && open?.message == "the device can't do that now")
      #expect(try await fleet.errorCode(move("Den/Washer", "door", "closed")) == nil)
      #expect(try await fleet.errorCode(press(.running)) == nil)
      #expect(try await fleet.errorCode(move("Den/Washer", "door", "open")) == .refused)
      #expect(try await fleet.send(.status).fleet?.devices.first?.state == "running, Pre-soak")
      let unknown = await #expect(throws: ControlError.self) {
        _ = try await fleet.send(move("Den/Washer", "lid", "open"))
      }
      #expect(unknown?.code == .notFound && unknown?.message == "it has no part “lid”; expected door, drain or water")
      let ajar = await #expect(throws: ControlError.self) {
        _ = try await fleet.send(move("Den/Washer", "door", "ajar"))
      }
      #expect(ajar?.message == "unknown state “ajar”; expected closed or open")
      // The endpoints of a bridged refrigerator are counted within it; its compartments follow its own.
      #expect(try await fleet.errorCode(move("Den/Fridge", "door", "open")) == nil)
      #expect(try await fleet.errorCode(move("Den/Fridge", "door", "open", 2)) == nil)
      var faults = DeviceFaults()
      faults.data = [
        .init(endpoint: 4, cluster: OnOff.id, attribute: OnOff.onOff.id, violation: .null, name: "4.onOff.onOff")
      ]
      for request: ControlRequest in [
        move("Den/Fridge", "door", "open", 4), .faults(device: "Den/Fridge", faults),
        .get(device: "Den/Fridge", endpoint: 4, cluster: OnOff.id.rawValue, attribute: OnOff.onOff.id.rawValue),
      ] {
        let error = await #expect(throws: ControlError.self) { _ = try await fleet.send(request) }
        #expect(error?.code == .notFound && error?.message == "it has no endpoint 4; expected 0, 1, 2 or 3")
      }
      _ = try await fleet.send(.power(device: "Den/Fridge", .off))
      #expect(try await fleet.errorCode(move("Den/Fridge", "door", "closed")) == .noPower)
    }
  }

  /// Injected faults persist across a power cycle, and invalid ones are rejected.
  @Test(.timeLimit(.minutes(10))) func injectsNetworkFaults() async throws {
    let home =
      Self.lamp + """
          - name: Bridge
            type: bridge
            devices:
              - { name: Spot, type: on/off light }
        """
    try await running(home) { (fleet: Running) async throws in
      func networks() async throws -> [DeviceNetwork?] {
        try #require(try await fleet.send(.status).fleet).devices.map(\.network)
      }
      func inject(_ fault: DeviceNetwork.Fault) async throws {
        _ = try await fleet.send(.network(device: "Den/Lamp", fault))
      }
      #expect(try await networks() == [nil, nil])
      let conditions = LinkConditions(latency: .milliseconds(80), loss: Ratio(30, of: 100))
      try await inject(.conditions(conditions))
      try await inject(.partition)
      let network = try #require(try await networks()[0])
      #expect(network.isPartitioned && network.conditions == conditions)
      _ = try await fleet.send(.power(device: "Den/Lamp", .off))
      #expect(try await networks() == [network, nil])
      _ = try await fleet.send(.power(device: "Den/Lamp", .on))
      #expect(try await networks() == [network, nil])
      // New conditions replace the partition.
      try await inject(.conditions(conditions))
      let replaced = try #require(try await networks()[0])
      #expect(!replaced.isPartitioned && replaced.conditions == conditions)
      try await inject(.heal)
      #expect(try await networks() == [nil, nil])
      #expect(try await fleet.errorCode(.network(device: "Spot", .partition)) == .refused)
      for bad in [
        LinkConditions(latency: .seconds(-1)), LinkConditions(jitter: .seconds(1 << 62)),
        LinkConditions(latency: .seconds(90_000)),
      ] { #expect(try await fleet.errorCode(.network(device: "Den/Lamp", .conditions(bad))) == .badRequest) }
      #expect(try await networks() == [nil, nil])
    }
  }

  /// Datagrams sent to a partitioned device are lost.
  @Test(.timeLimit(.minutes(10))) func partitionDropsDatagrams() async throws {
    try await running { (fleet: Running) async throws in
      let port = try #require(try await fleet.send(.status).fleet?.devices.first?.port)
      let loop = HostMachine().nextEventLoop()
      let sender = try await loop.submit {
        NIOLoopBound(try HostMachine().openTransport(.loopback, port: nil, on: loop), eventLoop: loop)
      }.get()
      func sendDatagram(_ bytes: [UInt8]) async throws {
        try await sender.eventLoop.submit { sender.value.send(bytes, to: SocketAddress(.loopback4, port: port)) }.get()
      }
      func drops() async throws -> [String: Int] {
        try #require(try await fleet.send(.status).fleet?.devices.first).drops
      }
      for fault in [DeviceNetwork.Fault.partition, .conditions(LinkConditions(latency: .zero, loss: .always))] {
        let before = try await drops()["malformedHeader", default: 0]
        _ = try await fleet.send(.network(device: "Den/Lamp", fault))
        for _ in 0..<3 { try await sendDatagram([0, 1]) }
        #expect(try await eventually { try isEmpty(port) })
        // On the loop of the device, behind the handling of the datagrams.
        _ = try await drops()
        _ = try await fleet.send(.network(device: "Den/Lamp", .heal))
        try await sendDatagram([0, 1])
        #expect(try await eventually { try await drops()["malformedHeader", default: 0] != before })
        #expect(try await drops()["malformedHeader"] == before + 1)
      }
      try await sender.eventLoop.submit { sender.value.close() }.get()
    }
  }

  @Test(.timeLimit(.minutes(10))) func switchesPower() async throws {
    try await running { (fleet: Running) async throws in
      let onOff = ControlRequest.get(
        device: "Den/Lamp", endpoint: nil, cluster: OnOff.id.rawValue, attribute: OnOff.onOff.id.rawValue)
      let port = try #require(try await fleet.send(.status).fleet?.devices.first?.port)
      _ = try await fleet.send(.power(device: "Den/Lamp", .off))
      #expect(try await fleet.errorCode(onOff) == .noPower)
      #expect(try await fleet.send(.status).fleet?.devices.first?.isPowered == false)
      _ = try await fleet.send(.power(device: "Den/Lamp", .on))
      #expect(try await fleet.errorCode(onOff) == nil)
      let begin = HostClock.now()
      _ = try await fleet.send(.power(device: "Den/Lamp", .cycle))
      #expect(HostClock.now() - begin >= .seconds(1), "the reply arrives after power is back")
      #expect(try await fleet.errorCode(onOff) == nil)
      #expect(try await fleet.send(.status).fleet?.devices.first?.port == port)
    }
  }

  /// Malformed requests are rejected, and the connection is closed on an endless line.
  @Test(.timeLimit(.minutes(10))) func rejectsMalformedRequests() async throws {
    try await running { (fleet: Running) async throws in
      for text in ["hello\n", "{}\n", "{\"fly\":{}}\n", "\n"] {
        #expect(try await fleet.send(raw: text).contains("badRequest"), "\(text)")
      }
      #expect(try await fleet.send(raw: String(repeating: "x", count: 70_000)) == "")
      #expect(try await fleet.send(.status).fleet != nil)
    }
    // No fleet is running in this directory.
    let directory = FileManager.default.temporaryDirectory.path
    #expect(throws: ControlError.self) { try ControlClient.send(.status, toProcess: getpid(), in: directory) }
  }

  @Test(.timeLimit(.minutes(10))) func reportsDropsByReason() async throws {
    try await running(discovery: .builtin) { (fleet: Running) async throws in
      let port = try #require(try await fleet.send(.status).fleet?.devices.first?.port)
      #expect(try await fleet.send(.status).fleet?.devices.first?.drops == [:])
      // Without a header, and of an unknown session.
      for (bytes, count) in [
        ([0x00, 0x01], 3), ([0x00, 0x77, 0x77, 0x00, 1, 0, 0, 0] + [UInt8](repeating: 9, count: 40), 2),
      ] {
        for _ in 0..<count { sendDatagram(bytes, to: port) }
      }
      var drops: [String: Int] = [:]
      #expect(
        try await eventually {
          drops = try await fleet.send(.status).fleet?.devices.first?.drops ?? [:]
          return drops.values.reduce(0, +) >= 5
        })
      #expect(drops == ["malformedHeader": 3, "unknownSession": 2])
      // DNS-SD: not a message, and one with an unknown opcode.
      let responders = Fleet.respondersDirectory(in: fleet.directory + "/run")
      let name = try #require(try FileManager.default.contentsOfDirectory(atPath: responders).first)
      let text = try String(contentsOfFile: responders + "/" + name, encoding: .utf8)
      let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("127.") })
      let dnsPort = try #require(line.split(separator: " ").last.flatMap { UInt16($0) })
      for _ in 0..<4 { sendDatagram([1, 2, 3], to: dnsPort) }
      sendDatagram([0, 0, 0x78, 0] + [UInt8](repeating: 0, count: 8), to: dnsPort)
      var dns: [String: Int] = [:]
      #expect(
        try await eventually {
          dns = try await fleet.send(.status).fleet?.discoveryDrops ?? [:]
          return dns.values.reduce(0, +) >= 5
        })
      #expect(dns["malformed"] == 4 && dns["notOrdinary"] == 1, "\(dns)")
    }
  }

  /// The device has no fabric, so that no binding resolves: its command is not delivered, and counted.
  @Test(.timeLimit(.minutes(10))) func countsUndeliveredCommands() async throws {
    try await running("devices:\n  - { name: Lamp, room: Den, type: on/off light switch }\n") {
      (fleet: Running) async throws in
      let targets = [Binding.TargetStruct(node: 1, endpoint: 1, fabricIndex: 1)]
      _ = try await fleet.send(
        .set(
          device: "Den/Lamp", endpoint: 1, cluster: Binding.id.rawValue, attribute: Binding.binding.id.rawValue,
          value: targets.tlv))
      _ = try await fleet.send(.move(device: "Den/Lamp", button: 0, moves: [.init(position: 1, after: 0)]))
      #expect(try await fleet.send(.status).fleet?.devices.first?.drops == ["undeliveredCommand": 1])
    }
  }

  @Test(.timeLimit(.minutes(10))) func deviceServesTheMachinesTime() async throws {
    try await running { (fleet: Running) async throws in
      // A time that the device kept from its last event would differ by more than the tolerance below.
      try await Task.sleep(for: .milliseconds(200))
      let before = HostMachine().matterMicroseconds()
      let reply = try await fleet.send(
        .get(
          device: "Den/Lamp", endpoint: 0, cluster: TimeSynchronization.id.rawValue,
          attribute: TimeSynchronization.utcTime.id.rawValue))
      let after = HostMachine().matterMicroseconds()
      let time = try #require(try Nullable<UInt64>(tlv: reply.value ?? []).wrapped)
      // Two clocks, read one after the other and rounded to milliseconds.
      #expect(time + 100_000 >= before && time <= after + 100_000)
    }
  }

  /// Whether the sockets on a port have no unread datagrams.
  private func isEmpty(_ port: UInt16) throws -> Bool {
    let suffix = ":" + String(format: "%04X", Int(port))
    return try ["/proc/net/udp", "/proc/net/udp6"].allSatisfy { file in
      try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").allSatisfy { line in
        // The slot, the local and the remote address, the state, and the lengths of the queues.
        let fields = line.split(separator: " ")
        return fields.count < 5 || !fields[1].hasSuffix(suffix) || fields[4].hasSuffix(":00000000")
      }
    }
  }

  private func sendDatagram(_ bytes: [UInt8], to port: UInt16) {
    let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    _ = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }
}
