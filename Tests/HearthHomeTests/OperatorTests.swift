import Dispatch
import HearthHome
import MatterClusters
import MatterModel
import Synchronization
import Testing

/// The operators of sequences and the filters of queries.
@Suite("Operators", .timeLimit(.minutes(10))) struct OperatorTests {
  private final class Recorder<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    var all: [Value] { values.withLock { $0 } }
    func add(_ value: Value) { values.withLock { $0.append(value) } }
  }

  private func rest<S: HomeUpdates>(_ iterator: S.AsyncIterator, of _: S) async -> [S.Element] {
    await HearthHomeTests.rest(iterator, of: S.self)
  }

  @Test func operatorsKeepSink() async throws {
    let open = try await OpenHome(.lamp(5))
    let names = Recorder<String>(), counts = Recorder<Int>(), firsts = Recorder<Int>()
    var handles: Set<ObservationHandle> = []
    open.home.devices().batched().compactMap { $0.first { $0.id == "5" } }.map(\.name).removeDuplicates()
      .assertNoFailure().sink { names.add($0) }.store(in: &handles)
    open.home.devices().batched().map(\.count).filter { $0 > 1 }.sink { counts.add($0) }.store(in: &handles)
    open.home.devices().batched().map(\.count).first().sink { firsts.add($0) }.store(in: &handles)
    await open.process(.lost(5, .subscriptionLost))
    await open.meet(.lamp(6))
    try await open.home.rename("5", to: "Desk")
    #expect(await eventually { names.all == ["Device 5", "Desk"] && counts.all == [2, 2, 2] && firsts.all == [1] })
    handles = []
    try await open.home.rename("5", to: "Table")
    await open.home.close()
    #expect(names.all == ["Device 5", "Desk"] && firsts.all == [1])
  }

  @Test func skipsFirstValuesAndFindsOne() async throws {
    let open = try await OpenHome(.lamp(5))
    let found = Recorder<String>(), later = Recorder<String>(), states = Recorder<Bool?>()
    var handles: Set<ObservationHandle> = []
    let names = open.home.device(id: "5").map(\.name)
    names.first(where: { $0.hasPrefix("T") }).sink { found.add($0) }.store(in: &handles)
    names.dropFirst().dropFirst(-1).sink { later.add($0) }.store(in: &handles)
    try await open.device("5").types.subscribe(OnOffLightDeviceType.self).removeDuplicates()
      .sink { states.add($0.matterTraits.onOffTrait?.attributes.onOff) }.store(in: &handles)
    for name in ["Desk", "Table", "Top"] { try await open.home.rename("5", to: name) }
    await open.process(NodeModel.report(5, OnOff.onOff.path(on: 1), [0x08]))
    #expect(await eventually { states.all == [true, false] && later.all == ["Desk", "Table", "Top"] })
    #expect(found.all == ["Table"])
    // The operator of all asynchronous sequences, which returns a value.
    #expect(await names.first(where: { $0 == "Top" }) == "Top")
    await open.home.close()
  }

  @Test func operatorsMissNoChangeAfterIteratorIsMade() async throws {
    let open = try await OpenHome(.lamp(5))
    let names = open.home.device(id: "5").map(\.name).removeDuplicates { $0.count == $1.count }
    let iterator = names.makeAsyncIterator()
    for name in ["Desk", "Lamp", "Table"] { try await open.home.rename("5", to: name) }
    await open.home.close()
    #expect(await rest(iterator, of: names) == ["Device 5", "Desk", "Table"])
    #expect("\(names)" == "Updates<String>")
  }

  @Test func receivesOnQueue() async throws {
    let open = try await OpenHome(.lamp(5))
    let key = DispatchSpecificKey<Bool>()
    let queue = DispatchQueue(label: "test.receive")
    queue.setSpecific(key: key, value: true)
    let seen = Recorder<Bool?>()
    let handle = open.home.devices().batched().receive(on: queue).map(\.count).sink { _ in
      seen.add(DispatchQueue.getSpecific(key: key))
    }
    try await open.home.rename("5", to: "Desk")
    #expect(await eventually { seen.all == [true, true] })
    handle.cancel()
    await open.home.close()
  }

  @Test func deviceIsSequence() async throws {
    let open = try await OpenHome(.lamp(5))
    let query = open.home.device(id: "6")
    let iterator = query.makeAsyncIterator()
    let states = Recorder<ConnectivityState>()
    let handle = open.home.device(id: "5").sink { states.add($0.sourceConnectivity.connectivityState) }
    await open.process(.lost(5, .subscriptionLost))
    await open.meet(.lamp(6))
    await open.process(.nodeRemoved(6))
    #expect(await eventually { states.all == [.online, .offline] })
    handle.cancel()
    await open.home.close()
    #expect(await rest(iterator, of: query).map(\.sourceConnectivity.connectivityState) == [.unknown, .online])
    #expect("\(query)" == "DeviceQuery")
  }

  @Test func filtersCollections() async throws {
    let open = try await OpenHome(.lamp(5), .bridge(7))
    let home = open.home
    let structure = try #require(await home.primaryStructure)
    let hall = try await home.addRoom("Hall")
    try await home.move("7/2", to: hall.id)
    func ids(_ query: Query<HomeDevice>) async throws -> [String] { try await query.list().map(\.id) }
    #expect(try await ids(home.devices().in(hall)) == ["7/2"])
    #expect(try await ids(home.devices().in(structure.roomForEntireHome())) == ["5", "7", "7/3"])
    #expect(try await ids(home.devices().in(structure)) == ["5", "7", "7/2", "7/3"])
    #expect(try await ids(home.devices().in(Structure(id: "cabin", name: "Cabin"))).isEmpty)
    #expect(try await ids(home.devices().having(OnOffTrait.self)) == ["5", "7/2", "7/3"])
    #expect(try await ids(home.devices().having(OnOffTrait.self).in(hall)) == ["7/2"])
    #expect(try await ids(home.devices().having(BridgedNodeDeviceType.self)) == ["7/2", "7/3"])
    #expect(try await ids(home.devices().having(.light).named("Left")) == ["7/2"])
    #expect(try await home.rooms().in(structure).named("Hall").list() == [hall])
    #expect(try await home.rooms().named("hall").list().isEmpty)
    #expect(try await home.structures().named("Home").list() == [structure])
    #expect(try await home.structures().named("Cabin").list().isEmpty)
    await home.close()
  }

  @Test func observesFilteredCollection() async throws {
    let open = try await OpenHome(.lamp(5), .lamp(6))
    let hall = try await open.home.addRoom("Hall")
    let inHall = open.home.devices().in(hall)
    let (batched, stream) = (inHall.batched().makeAsyncIterator(), inHall.stream().makeAsyncIterator())
    try await open.home.move("5", to: hall.id)
    try await open.home.rename("6", to: "Desk")
    try await open.home.rename("5", to: "Lamp")
    try await open.home.move("5", to: nil)
    await open.home.close()
    #expect(await rest(batched, of: inHall.batched()).map { $0.map(\.name) } == [[], ["Device 5"], ["Lamp"], []])
    let changes = await rest(stream, of: inHall.stream()).map { change in
      switch change {
      case .added(let new): "+\(new.name)"
      case .updated(let old, let new): "\(old.name) > \(new.name)"
      case .removed(let old): "-\(old.name)"
      }
    }
    #expect(changes == ["+Device 5", "Device 5 > Lamp", "-Lamp"])
  }
}
