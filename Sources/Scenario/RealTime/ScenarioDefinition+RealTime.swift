internal import Runtime
internal import Simulation
internal import VirtualDevices

extension ScenarioDefinition {
  /// Runs the scenario on sockets of the loopback interface and the real clock.
  /// - Parameters:
  ///   - defect: a seeded defect, which should make the scenario fail.
  ///   - timeline: records the events of the run.
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

  /// Removes the stores of unfinished runs in real time. To be called before the process exits.
  public static func removeRealTimeStores() { RealHome.removeAll() }

  /// Sets the home up and runs the scenario.
  /// - Returns: the failure; nil if the run passed.
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
        // A canceled sleep also returns; the result is then ignored.
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
