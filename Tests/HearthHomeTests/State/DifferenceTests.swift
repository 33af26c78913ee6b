import HearthHome
import HomeModel
import MatterCrypto
import MatterModel
import Testing

@Suite("Difference of homes") struct DifferenceTests {
  @Test(arguments: 1...20) func differenceTransformsOneHomeIntoTheOther(_ seed: Int) {
    var random = SeededRandomSource(seed: UInt64(seed))
    var generator = ChangeGenerator()
    var (one, other) = (HomeState(), HomeState())
    for _ in 0..<40 {
      for change in generator.next(&random) { one.apply(change) }
      for change in generator.next(&random) { other.apply(change) }
      // Also from a common state.
      if Int.random(in: 0..<5, using: &random) == 0 { other = one }
      var transformed = one
      for change in one.changes(to: other) { transformed.apply(change) }
      #expect(transformed.devices == other.devices)
      #expect(transformed.values == other.values)
      #expect(Set(transformed.structures) == Set(other.structures))
      #expect(Set(transformed.rooms) == Set(other.rooms))
      #expect(transformed.primaryStructureID == other.primaryStructureID)
      #expect(other.changes(to: other).isEmpty)
      for state in [one, other, transformed] { checkIndexes(of: state) }
    }
  }

  /// Compares the indexes by name and unique id with a search of all devices.
  private func checkIndexes(of state: HomeState) {
    for name in Set(state.devices.values.map { $0.name.lowercased() }) {
      let devices = state.devices.values.filter { $0.name.lowercased() == name }.sorted { $0.id < $1.id }
      #expect(state.devices(named: name.uppercased()) == devices)
    }
    let sources = state.devices.values.flatMap(\.sources).sorted { $0.id < $1.id }
    for id in Set(sources.compactMap(\.identity.uniqueID)) {
      #expect(state.sources(withUniqueID: id) == sources.filter { $0.identity.uniqueID == id })
    }
  }

  @Test func forgetsNamesAndUniqueIDsOfRemovedDevices() {
    var state = HomeState()
    var identity = DeviceIdentity()
    identity.uniqueID = "u1"
    state.apply(.deviceAdded(id: "1", name: "Lamp", roomID: nil, structureID: "home"))
    state.apply(.sourceAdded(SourceID(1), device: "1"))
    state.apply(.topology(SourceID(1), [], identity))
    #expect(state.devices(named: "LAMP").map(\.id) == ["1"])
    #expect(state.sources(withUniqueID: "u1").map(\.id) == [SourceID(1)])
    identity.uniqueID = "u2"
    state.apply(.topology(SourceID(1), [], identity))
    state.apply(.deviceRenamed(id: "1", name: "Spot"))
    #expect(state.devices(named: "lamp").isEmpty && state.sources(withUniqueID: "u1").isEmpty)
    state.apply(.deviceRemoved(id: "1"))
    #expect(state.devices(named: "spot").isEmpty && state.sources(withUniqueID: "u2").isEmpty)
    state.apply(.deviceAdded(id: "1", name: "Lamp", roomID: nil, structureID: "home"))
    #expect(state.devices(named: "spot").isEmpty && state.devices(named: "lamp").count == 1)
  }
}
