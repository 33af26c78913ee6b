public import MatterProtocol
internal import Runtime
internal import Simulation
internal import VirtualDevices

extension ScenarioDefinition {
  /// Plays the scenario on real sockets, on the loopback interface, and the real clock.
  /// - Parameters:
  ///   - defect: a fault that is built in, with which the scenario should fail.
  ///   - timeline: where it is written down what happens.
  public func playInRealTime(defect: SeededDefect? = nil, timeline: Timeline = Timeline()) async -> ScenarioResult {
    let start = HostClock.now()
    var failure: ScenarioResult.Failure?
    do {
      failure = await play(on: try RealHome(home, timeline), timeline, defect: defect)
    } catch {
      failure = .init(message: "\(error)", mark: nil, timeline: timeline.lines)
    }
    let elapsed = HostClock.now() - start
    return result(failure, seed: nil, defect: defect, timeline.summary, duration: elapsed, elapsed: elapsed)
  }

  /// Removes what runs in real time have stored that are not over, for a process that is about to end: they can't go on.
  public static func removeRealTimeStores() { RealHome.removeAll() }

  /// Sets the home up, and plays.
  /// - Returns: why it did not pass.
  func play(on home: RealHome, _ timeline: Timeline, defect: SeededDefect?) async -> ScenarioResult.Failure? {
    timeline.beginSettingUp()
    let failure = await withTaskGroup(of: ScenarioResult.Failure?.self) { group in
      group.addTask {
        do {
          try await home.begin(isPaired: isPaired, defect: defect)
        } catch {
          return .init(message: "\(error)", mark: nil, timeline: timeline.lines)
        }
        return await Self.play(self, on: home, timeline, pace: .milliseconds(20))
      }
      group.addTask {
        // Ended by a cancellation, it is not asked any more.
        try? await home.sleep(for: limit)
        return timeIsOver(timeline)
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      return first
    }
    await home.close()
    return failure
  }
}
