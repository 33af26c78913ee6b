public import Home
internal import MatterClusters
internal import MatterController
internal import MatterModel
internal import MatterProtocol
public import Simulation
internal import Runtime
internal import VirtualDevices

// What is injected into the devices, and what somebody does who stands before them.
extension SimulatedHome {
  /// A device of the home, or one behind a bridge.
  typealias Found = (device: VirtualDevice, place: VirtualDevice.Place, machine: SimulatedMachine)

  /// - Parameter name: `room/name`, or the name alone where only one device has it; any case.
  func find(_ name: String) throws(HomeError) -> Found {
    let names = DeviceNames(definition)
    switch names.find(name) {
    case .success(let wanted):
      for (device, machine) in parts {
        if let place = device.place(named: wanted.path) { return (device, place, machine) }
      }
    case .failure(let miss) where !miss.candidates.isEmpty:
      throw HomeError(
        .ambiguousTarget, "“\(name)” matches \(miss.candidates.count) devices", candidates: miss.candidates)
    case .failure: break
    }
    throw HomeError(.notFound, "there is no device “\(name)”", candidates: names.suggestions(for: name))
  }

  /// The machine of a device, or that of the home: “hub”.
  public func machine(of device: String) throws(HomeError) -> SimulatedMachine {
    device == ScenarioReader.hub ? hub : try find(device).machine
  }

  // MARK: Power

  /// Cuts a device's power: it says no goodbye, and what it had not stored is lost. One behind a bridge is out of the bridge's
  /// reach; “hub” is the home's own machine.
  public func cutPower(of device: String) async throws {
    tell("power \(device) off")
    if device != ScenarioReader.hub {
      let found = try find(device)
      if found.place.bridged != nil { return try found.device.switchPower(false, at: found.place) }
    }
    try machine(of: device).cutPower()
  }

  /// Gives a device its power back: it starts from what it had stored.
  public func restorePower(of device: String) async throws {
    tell("power \(device) on")
    if device == ScenarioReader.hub {
      guard !hub.isPowered else { return }
      hub.restorePower()
      return try await open()
    }
    let found = try find(device)
    if found.place.bridged != nil { return try found.device.switchPower(true, at: found.place) }
    guard !found.machine.isPowered else { return }
    found.machine.restorePower()
    try found.device.restorePower()
    // It may have lost it again while it started.
    guard found.machine.isPowered else { return found.device.cutPower() }
    prepareForPowerCut(found.machine, found.device)
  }

  /// Does what a person does who holds a device's button for long: it forgets all that it had stored, and starts anew.
  func reset(_ device: String) async throws {
    let machine = try machine(of: device)
    machine.cutPower()
    machine.eraseDisk()
    try await restorePower(of: device)
  }

  // MARK: The network

  /// What is injected into the network around a device.
  public func inject(_ device: String, _ fault: NetworkFault) throws(HomeError) {
    let machine = try machine(of: device)
    let world = simulation.world.value
    var faults = faults[machine.id] ?? MachineFaults()
    faults.inject(fault)
    self.faults[machine.id] = faults
    if faults.hasMulticast {
      world.network.silent.remove(machine.id)
    } else {
      world.network.silent.insert(machine.id)
    }
    world.network.places[machine.id] = faults.place
    for family in IPFamily.allCases { machine.setFamily(family, isOn: !faults.familiesOff.contains(family)) }
    relink(machine)
    world.note("\(device): \(fault)")
    tell("net \(device): \(fault)")
  }

  /// Makes the links between a machine and all others as the faults of both ends have them.
  private func relink(_ machine: SimulatedMachine) {
    for other in machines where other !== machine { relink(machine.id, other.id, &simulation.world.value.network) }
  }

  /// What was injected into the network around others before a machine was there counts for it, too.
  func relinkNewcomer(_ machine: SimulatedMachine) {
    for (id, _) in faults.sorted(by: { $0.key < $1.key }) where id != machine.id {
      relink(machine.id, id, &simulation.world.value.network)
    }
  }

  /// Makes the link between two machines as the faults of both have it.
  private func relink(_ first: HostID, _ second: HostID, _ network: inout SimulatedNetwork) {
    for (from, to) in [(first, second), (second, first)] {
      let isCut = faults[from]?.isMute ?? false || faults[to]?.isDeaf ?? false
      if isCut { network.cut(from: from, to: to) } else { network.mend(from: from, to: to) }
    }
    let (here, there) = (faults[first] ?? MachineFaults(), faults[second] ?? MachineFaults())
    network.set(here.conditions(towards: there), from: first, to: second)
  }

  /// Gives a device another address; DNS-SD tells it.
  public func move(_ device: String) throws(HomeError) {
    let machine = try machine(of: device)
    tell("move \(device)")
    machine.changeAddresses(Self.neighbour)
  }

  /// Sets a device's wall clock forward or back, or that of the home's machine.
  public func moveWallClock(of device: String, by time: Duration) throws(HomeError) {
    let machine = try machine(of: device)
    tell("clock \(device) \(time)")
    machine.moveWallClock(by: time)
    for part in parts where part.machine === machine { part.device.noteClock() }
  }

  /// An address of the same subnet that nobody has.
  private static func neighbour(_ address: IPAddress) -> IPAddress {
    switch address {
    case .v4(let bits): .v4(bits ^ 0x80_0000)
    case .v6(let high, let low, let scope): .v6(high: high, low: low &+ 0x1_0000, scope: scope)
    }
  }

  /// Lets a second home into a device, and has it open so many sessions without closing any: it loses its power each time.
  public func rival(at device: String, times: Int) async throws {
    let (rival, machine) = await addRival(at: device)
    try await rival.visit(device, of: home, times: times) { controller in
      machine.onPowerCut = [{ controller.abandon() }]
      machine.cutPower()
      machine.restorePower()
    }
  }

  /// Lets a second home into a device, and has it ask for so many subscriptions. It stays, and keeps those that it gets.
  /// - Returns: how many it got.
  /// - Throws: ``HomeError``, also where the device gives it fewer than it promises to everybody.
  @discardableResult
  public func rival(at device: String, subscriptions count: Int) async throws -> Int {
    let (rival, machine) = await addRival(at: device)
    let kept = try await rival.subscribe(to: device, of: home, count: count)
    guests.append(kept)
    simulation.world.value.note("\(machine.name) got \(kept.streams.count) of \(count) subscriptions")
    return kept.streams.count
  }

  private func addRival(at device: String) async -> (rival: CompetingController, machine: SimulatedMachine) {
    tell("rival \(device)")
    let machine = await simulation.perform { $0.addMachine("rival \(device)") }
    rivals.append(machine)
    relinkNewcomer(machine)
    let rival = CompetingController(
      machine: machine, interfaces: .all, state: StateDirectory(directory + "/rival \(rivals.count)"),
      logger: options.logger)
    return (rival, machine)
  }

  // MARK: Hands

  /// Changes an attribute as the physical device would.
  public func set(_ place: AttributePlace, of device: String, to value: [UInt8]) throws {
    let found = try find(device)
    tell("set \(device).\(place.name) \(place.text(of: value))")
    try found.device.set(place.cluster, place.attribute, value, on: found.place.endpoints(nil))
  }

  /// Presses a button of a switch.
  /// - Parameter button: which of several, from 1.
  /// - Throws: ``HomeError`` `notFound` where it has no such device or button, and what the device says against it.
  public func press(_ device: String, _ press: Press, button: Int = 1) throws {
    let found = try find(device)
    guard found.place.application.indices.contains(button - 1) else {
      throw HomeError(.notFound, "“\(device)” has no button \(button)")
    }
    tell("press \(device) \(press.rawValue)\(button == 1 ? "" : ", button \(button)")")
    try found.device.move(press.moves, on: found.place.application[button - 1])
  }

  /// What the device itself holds; nil where it has no power, or no such attribute.
  public func value(of place: AttributePlace, in device: String) -> [UInt8]? {
    guard let found = try? find(device) else { return nil }
    return try? found.device.find(place.cluster, place.attribute, on: found.place.endpoints(nil)).value
  }
}
