public import HearthHome
internal import MatterClusters
internal import MatterController
internal import MatterModel
internal import MatterProtocol
public import Simulation
internal import Runtime
internal import VirtualDevices

// Faults of devices and networks, and physical actions.
extension SimulatedHome {
  /// A device with its endpoints and its machine; for a bridged device, those of the bridge.
  typealias Found = (device: VirtualDevice, place: VirtualDevice.Place, machine: SimulatedMachine)

  /// Finds a device, ignoring case.
  /// - Parameter name: `room/name`, or the name alone if it is unique.
  func find(_ name: String) throws(HomeError) -> Found {
    switch names.find(name) {
    case .success(let wanted):
      if let position = positions[names.bridge(of: wanted.path) ?? wanted.path] {
        let (device, machine) = parts[position]
        if let place = device.place(named: wanted.path) { return (device, place, machine) }
      }
    case .failure(let miss) where !miss.candidates.isEmpty:
      throw HomeError(
        .ambiguousTarget, "“\(name)” matches \(miss.candidates.count) devices", candidates: miss.candidates)
    case .failure: break
    }
    throw HomeError(.notFound, "no device “\(name)”", candidates: names.suggestions(for: name))
  }

  /// Returns the machine of a device, or with “hub” that of the home.
  public func machine(of device: String) throws(HomeError) -> SimulatedMachine {
    device == ScenarioReader.hub ? hub : try find(device).machine
  }

  // MARK: Power

  /// Cuts the power of a device, which sends no goodbye and loses everything it has not stored; meters and
  /// batteries store their energy first. A bridged device becomes unreachable behind its bridge. “hub” is the machine of
  /// the home.
  public func cutPower(of device: String) async throws {
    addToTimeline("power \(device) off")
    if device != ScenarioReader.hub {
      let found = try find(device)
      if found.place.bridged != nil { return try found.device.switchPower(false, at: found.place) }
      found.device.prepareForPowerLoss()
    }
    try machine(of: device).cutPower()
  }

  /// Restores the power of a device, which starts with its stored state.
  public func restorePower(of device: String) async throws {
    addToTimeline("power \(device) on")
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
    // The power may have been cut again while the device started.
    guard found.machine.isPowered else { return found.device.cutPower() }
    prepareForPowerCut(found.machine, found.device)
  }

  /// Resets a device to factory settings, as holding its button does: erases its storage and restarts it.
  func reset(_ device: String) async throws {
    let machine = try machine(of: device)
    machine.cutPower()
    machine.eraseDisk()
    try await restorePower(of: device)
  }

  /// Replaces the faults of a device itself.
  func inject(_ faults: DeviceFaults, into device: String) throws {
    let found = try find(device)
    addToTimeline("fault \(device): \(faults.words.isEmpty ? "heal" : faults.words.joined(separator: ", "))")
    try found.device.inject(faults, at: found.place)
  }

  // MARK: The network

  /// Injects a fault into the network around a device.
  public func inject(_ device: String, _ fault: NetworkFault) throws(HomeError) {
    let machine = try machine(of: device)
    let world = simulation.world.value
    var faults = faults[machine.id] ?? MachineFaults()
    faults.inject(fault)
    self.faults[machine.id] = faults
    if faults.hasMulticast {
      world.network.withoutMulticast.remove(machine.id)
    } else {
      world.network.withoutMulticast.insert(machine.id)
    }
    world.network.networks[machine.id] = faults.place
    for family in IPFamily.allCases { machine.setFamily(family, isOn: !faults.familiesOff.contains(family)) }
    relink(machine)
    world.note("\(device): \(fault)")
    addToTimeline("net \(device): \(fault)")
  }

  /// Applies the faults of both ends to the links between a machine and all others.
  private func relink(_ machine: SimulatedMachine) {
    for other in machines where other !== machine { relink(machine.id, other.id, &simulation.world.value.network) }
  }

  /// Applies existing faults of other machines to the links of a new machine.
  func relinkNewMachine(_ machine: SimulatedMachine) {
    for (id, _) in faults.sorted(by: { $0.key < $1.key }) where id != machine.id {
      relink(machine.id, id, &simulation.world.value.network)
    }
  }

  /// Applies the faults of both machines to the link between them.
  private func relink(_ first: HostID, _ second: HostID, _ network: inout SimulatedNetwork) {
    for (from, to) in [(first, second), (second, first)] {
      let isCut = faults[from]?.isMute ?? false || faults[to]?.isDeaf ?? false
      if isCut { network.cut(from: from, to: to) } else { network.mend(from: from, to: to) }
    }
    let (here, there) = (faults[first] ?? MachineFaults(), faults[second] ?? MachineFaults())
    network.set(here.conditions(toward: there), from: first, to: second)
  }

  /// Changes the addresses of a device, which announces them by DNS-SD.
  public func move(_ device: String) throws(HomeError) {
    let machine = try machine(of: device)
    addToTimeline("move \(device)")
    machine.changeAddresses(Self.neighbor)
  }

  /// Moves the wall clock of a device, or with “hub” of the home's machine.
  public func moveWallClock(of device: String, by time: Duration) throws(HomeError) {
    let machine = try machine(of: device)
    addToTimeline("clock \(device) \(time)")
    machine.moveWallClock(by: time)
    for part in parts where part.machine === machine { part.device.noteClock() }
  }

  /// Returns an unused address of the same subnet.
  private static func neighbor(_ address: IPAddress) -> IPAddress {
    switch address {
    case .v4(let bits): .v4(bits ^ 0x80_0000)
    case .v6(let high, let low, let scope): .v6(high: high, low: low &+ 0x1_0000, scope: scope)
    }
  }

  /// Commissions a device into a second home, which opens `times` sessions without closing any: its power is cut each
  /// time.
  public func compete(for device: String, times: Int) async throws {
    let (competitor, machine) = await addCompetingController(at: device)
    try await competitor.openSessions(device, of: home, times: times) { controller in
      machine.onPowerCut = [{ controller.abandon() }]
      machine.cutPower()
      machine.restorePower()
    }
  }

  /// Commissions a device into a second home, which requests `count` subscriptions and keeps those it is granted.
  /// - Returns: the number of subscriptions granted.
  /// - Throws: `HomeError`, also if the device grants fewer than it guarantees to each fabric.
  @discardableResult
  public func compete(for device: String, subscriptions count: Int) async throws -> Int {
    let (competitor, machine) = await addCompetingController(at: device)
    let kept = try await competitor.subscribe(to: device, of: home, count: count)
    heldSubscriptions.append(kept)
    simulation.world.value.note("\(machine.name) got \(kept.streams.count) of \(count) subscriptions")
    return kept.streams.count
  }

  private func addCompetingController(at device: String) async -> (
    competitor: CompetingController, machine: SimulatedMachine
  ) {
    addToTimeline("rival \(device)")
    let machine = await simulation.perform { $0.addMachine("rival \(device)") }
    competitors.append(machine)
    relinkNewMachine(machine)
    let competitor = CompetingController(
      machine: machine, interfaces: .all, state: StateDirectory(directory + "/rival \(competitors.count)"),
      logger: options.logger)
    return (competitor, machine)
  }

  // MARK: Physical actions

  /// Changes an attribute as the physical device would.
  public func set(_ place: AttributePlace, of device: String, to value: [UInt8]) throws {
    let found = try find(device)
    addToTimeline("set \(device).\(place.name) \(place.text(of: value))")
    let endpoints = try found.device.endpoints(place.endpoint, of: found.place)
    try found.device.set(place.cluster, place.attribute, value, on: endpoints)
  }

  /// Moves a part of a device that no attribute describes, such as a door.
  /// - Parameter endpoint: the number of the endpoint within the device; nil: the first one that has the part.
  public func move(_ part: String, of device: String, on endpoint: UInt16? = nil, to state: String) throws {
    let found = try find(device)
    addToTimeline("set \(device).\(endpoint.map { "\($0)." } ?? "")\(part) \(state)")
    let endpoints = try found.device.endpoints(endpoint, of: found.place)
    try found.device.move(part: part, to: state, on: endpoints, of: found.place)
  }

  /// Presses a button of a switch.
  /// - Parameter button: the number of the button, from 1.
  /// - Throws: `HomeError` `notFound` if there is no such device or button, or the error of the device.
  public func press(_ device: String, _ press: Press, button: Int = 1) throws {
    let found = try find(device)
    guard found.place.application.indices.contains(button - 1) else {
      throw HomeError(.notFound, "“\(device)” has no button \(button)")
    }
    addToTimeline("press \(device) \(press.rawValue)\(button == 1 ? "" : ", button \(button)")")
    try found.device.move(press.moves, on: found.place.application[button - 1])
  }

  /// Returns an attribute of the device itself; nil if it has no power or no such attribute.
  public func value(of place: AttributePlace, in device: String) -> [UInt8]? {
    guard let found = try? find(device) else { return nil }
    return try? found.device.find(place.cluster, place.attribute, on: found.place.endpoints(place.endpoint)).value
  }
}
