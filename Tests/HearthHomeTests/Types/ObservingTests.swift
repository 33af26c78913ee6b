import HearthHome
import HomeControl
import HomeModel
import MatterClusters
import MatterModel
import Synchronization
import Testing

@Suite("Type subscriptions") struct ObservingTests {
  private func levels(_ updates: DeviceUpdates<DimmableLightDeviceType>) async -> [UInt8?] {
    var result: [UInt8?] = []
    for await light in updates { result.append(light.matterTraits.levelControlTrait?.attributes.currentLevel) }
    return result
  }

  @Test func deliversOneValuePerChangingReport() async throws {
    let home = SampleHome.withLight()
    let device = try #require(home.device("5"))
    var iterator = device.types.subscribe(DimmableLightDeviceType.self).makeAsyncIterator()
    func level(_ value: UInt8) -> (ConcreteAttributePath, [UInt8]) {
      (LevelControl.currentLevel.path(on: 1), value.tlv)
    }
    home.report(5, level(10), (OnOff.onOff.path(on: 1), false.tlv))
    // Reports that change nothing, or nothing of this type.
    home.report(5, level(10))
    home.report(5, (BasicInformation.nodeLabel.path(on: 0), "x".tlv))
    home.apply([.deviceRenamed(id: "5", name: "Other")])
    home.report(5, level(11))
    home.apply([.connectivity(SourceID(5), SampleHome.gone)])
    home.apply([.connectivity(SourceID(5), SampleHome.gone)])
    home.apply([.deviceRemoved(id: "5")])
    var seen: [String] = []
    while let light = await iterator.next() {
      let traits = light.matterTraits
      let level = traits.levelControlTrait?.attributes.currentLevel.map { "\($0)" } ?? "-"
      seen.append(
        "\(level) \(traits.onOffTrait?.attributes.onOff == true) \(light.metadata.sourceConnectivity.connectivityState)"
      )
    }
    #expect(seen == ["128 true online", "10 false online", "11 false online", "11 false offline"])
  }

  @Test func endsAtOnceForMissingType() async throws {
    let home = SampleHome.withLight()
    let device = try #require(home.device("5"))
    var count = 0
    for await _ in device.types.subscribe(OnOffLightDeviceType.self) { count += 1 }
    for await _ in device.types.subscribe(DimmableLightDeviceType.self, on: 4) { count += 1 }
    #expect(count == 0)
    #expect(home.observerCount == 0)
  }

  @Test func endsWhenTypeIsRemoved() async throws {
    let home = SampleHome.withLight()
    let updates = try #require(home.device("5")).types.subscribe(DimmableLightDeviceType.self)
    var iterator = updates.makeAsyncIterator()
    #expect(await iterator.next() != nil)
    home.apply([.topology(SourceID(5), [SampleHome.root], DeviceIdentity())])
    #expect(await iterator.next() == nil)
    #expect(await iterator.next() == nil)
    #expect(home.observerCount == 0)
  }

  @Test func subscribesToOneEndpoint() async throws {
    let home = SampleHome()
    home.add(
      SourceID(9),
      [SampleHome.endpoint(1, DeviceTypes.onOffPlugInUnit), SampleHome.endpoint(2, DeviceTypes.onOffPlugInUnit)])
    let device = try #require(home.device("9"))
    var second = device.types.subscribe(OnOffPlugInUnitDeviceType.self, on: 2).makeAsyncIterator()
    home.report(9, (OnOff.onOff.path(on: 1), true.tlv))
    home.report(9, (OnOff.onOff.path(on: 2), true.tlv))
    #expect(await second.next()?.matterTraits.onOffTrait?.attributes.onOff == nil)
    #expect(await second.next()?.matterTraits.onOffTrait?.attributes.onOff == true)
  }

  @Test func subscribesToAllTypes() async throws {
    let home = SampleHome.withLight()
    var iterator = try #require(home.device("5")).types.subscribeAll().makeAsyncIterator()
    home.report(5, (OnOff.onOff.path(on: 1), true.tlv))
    home.report(5, (OnOff.onOff.path(on: 1), false.tlv))
    home.apply([.deviceRenamed(id: "5", name: "Other")])
    home.apply([
      .topology(
        SourceID(5), [SampleHome.root, SampleHome.endpoint(1, DeviceTypes.extendedColorLight)], DeviceIdentity())
    ])
    home.apply([.deviceRemoved(id: "5")])
    #expect(await iterator.next()?[DimmableLightDeviceType.self]?.matterTraits.onOffTrait?.attributes.onOff == true)
    #expect(await iterator.next()?[DimmableLightDeviceType.self]?.matterTraits.onOffTrait?.attributes.onOff == false)
    let third = try #require(await iterator.next())
    #expect(third[DimmableLightDeviceType.self] == nil && third[ExtendedColorLightDeviceType.self] != nil)
    #expect(await iterator.next() == nil)
  }

  @Test func slowObserverGetsAllValuesWithoutDelayingOthers() async throws {
    let home = SampleHome.withLight()
    let device = try #require(home.device("5"))
    let updates = device.types.subscribe(DimmableLightDeviceType.self)
    var slow = updates.makeAsyncIterator()
    let fast = Task { await levels(updates) }
    #expect(await eventually { home.observerCount == 2 })
    for level in UInt8(1)...100 { home.report(5, (LevelControl.currentLevel.path(on: 1), level.tlv)) }
    home.apply([.deviceRemoved(id: "5")])
    #expect(await fast.value == [128] + (1...100).map { $0 })
    var late: [UInt8?] = []
    while let light = await slow.next() { late.append(light.matterTraits.levelControlTrait?.attributes.currentLevel) }
    #expect(late.count == 101)
  }

  // MARK: sink

  /// Records the values passed to a closure.
  private final class Recorder: Sendable {
    let values = Mutex<[Bool?]>([])
    func count() -> Int { values.withLock { $0.count } }
  }

  @Test func sinkDeliversValuesUntilCanceled() async throws {
    let home = SampleHome.withLight()
    let seen = Recorder()
    let handle = try #require(home.device("5")).types.subscribe(DimmableLightDeviceType.self).sink { light in
      seen.values.withLock { $0.append(light.matterTraits.onOffTrait?.attributes.onOff) }
    }
    // The subscription begins within the call.
    home.report(5, (OnOff.onOff.path(on: 1), false.tlv))
    #expect(await eventually { seen.count() == 2 })
    #expect(seen.values.withLock { $0 } == [true, false])
    handle.cancel()
    handle.cancel()
    #expect(await eventually { home.observerCount == 0 })
    home.report(5, (OnOff.onOff.path(on: 1), true.tlv))
    #expect(seen.count() == 2)
  }

  @Test func sinkEndsWhenHandleIsReleased() async throws {
    let home = SampleHome.withLight()
    let device = try #require(home.device("5"))
    var handle: ObservationHandle? = device.types.subscribeAll().sink { _ in }
    #expect(handle != nil && home.observerCount == 1)
    handle = nil
    #expect(await eventually { home.observerCount == 0 })
  }
}
