import HearthHome
import HomeAutomation
import HomeControl
import HomeModel
import HomeStore
import MatterClusters
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Synchronization
import Testing

/// The path of a report from the reducer to the observers.
@Suite("Stream of changes", .timeLimit(.minutes(10))) struct HomeStreamTests {
  private static let changed: [ConcreteAttributePath] = [
    OnOff.onOff.path(on: 1), OnOff.onTime.path(on: 1), OnOff.offWaitTime.path(on: 1),
  ]

  /// A report of three attributes of the lamp.
  private static func report(_ time: UInt16) -> HomeInput {
    let values: [[UInt8]] = [(time % 2 == 0).tlv, time.tlv, time.tlv]
    let data = zip(changed, values).map { AttributeData($0, dataVersion: UInt32(time), value: $1) }
    return .report(NodeReport(5, data, isWhole: true))
  }

  @Test func reportIsOneBatchAndOneCallOfEachObserver() async throws {
    let open = try await OpenHome(.lamp(5))
    let (home, controller) = (open.home, open.controller)
    try await home.follow()
    await open.process(.established(5, deadline: .max))
    let batches = Mutex<[HomeUpdate]>([])
    _ = try await controller.eventLoop.submit {
      controller.view.stream.addListener { event in
        if case .update(let update, _) = event { batches.withLock { $0.append(update) } }
        return true
      }
    }.get()
    let types = Mutex<[[UInt16?]]>([]), calls = Mutex(0)
    let handle = try await open.device("5").types.subscribe(OnOffLightDeviceType.self).sink { light in
      let attributes = light.matterTraits.onOffTrait?.attributes
      types.withLock { $0.append([attributes?.onTime, attributes?.offWaitTime.flatMap(\.self)]) }
    }
    let query = ObserverQuery(sampleType: .attribute, predicate: SampleFilter(devices: ["5"])) { _, complete, _ in
      calls.withLock { $0 += 1 }
      complete()
    }
    await home.execute(query)
    let client = await RecordingClient(home)
    #expect(await eventually { types.withLock(\.count) == 1 && calls.withLock { $0 } == 1 })
    let anchor = try await home.anchor()

    for time in 1...3 as ClosedRange<UInt16> {
      await open.process(Self.report(time))
      #expect(await eventually { calls.withLock { $0 } == time + 1 && types.withLock(\.count) == time + 1 })
    }
    #expect(types.withLock { $0.dropFirst() } == [[1, 1], [2, 2], [3, 3]])
    let published = batches.withLock { $0 }
    #expect(published.map(\.changes.count) == [3, 3, 3])
    #expect(zip(published, published.dropFirst()).allSatisfy { $0.sequence + 1 == $1.sequence })
    // HomeKit has one message per attribute, each with the device after the whole report.
    #expect(await eventually { client.delegate.messages.count == 9 })
    let samples = try await home.results(of: AnchoredQuery(.all, after: anchor)).added
    #expect(samples.count == 9 && Set(samples.map(\.update)).count == 3)
    handle.cancel()
    await home.close()
  }

  /// Reading the log writes the published changes first, so a notification does not wait for the commit.
  @Test func notifiesQueriesBeforeCommit() async throws {
    let worker = ResultHoldingWorker(of: WriteQueue.Batch.self)
    let open = try await OpenHome(ScratchDirectory(), machine: ChangedMachine(worker: worker))
    await open.meet(.lamp(5))
    let home = open.home
    try await home.follow()
    let anchor = try await home.anchor()
    let calls = Mutex(0)
    await home.execute(
      ObserverQuery(.attribute) { _, complete, _ in
        calls.withLock { $0 += 1 }
        complete()
      })
    #expect(await eventually { calls.withLock { $0 } == 1 })
    worker.holdNext()
    await open.process(Self.report(1))
    #expect(await eventually { calls.withLock { $0 } == 2 })
    #expect(await eventually { worker.isHolding })
    async let samples = home.results(of: AnchoredQuery(.attribute, after: anchor)).added
    worker.release()
    #expect(try await samples.count == 3)
    await home.close()
  }

  @Test func notifiesQueriesOfOtherProcesses() async throws {
    let directory = ScratchDirectory()
    let here = try await OfflineHome(directory)
    let there = try await Home(here.home.controller.options)
    try await here.make(HomeSamples.lamp(5))
    #expect(await eventually { await !there.backend.state.devices.isEmpty })
    let calls = Mutex(0)
    await there.execute(
      ObserverQuery(.topology, SampleFilter(devices: ["5"])) { _, complete, _ in
        calls.withLock { $0 += 1 }
        complete()
      })
    #expect(await eventually { calls.withLock { $0 } == 1 })
    try await here.make([.deviceRenamed(id: "5", name: "Desk")])
    #expect(await eventually { calls.withLock { $0 } == 2 })
    try await there.rename("5", to: "Lamp")
    #expect(await eventually { calls.withLock { $0 } == 3 })
    await here.home.close()
    await there.close()
  }
}
