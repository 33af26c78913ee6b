import Foundation
import HearthHome

/// Observes a home in each way that the library has, until it is interrupted: `ExampleHome DIRECTORY`, with the state
/// directory of the home.
@main struct Application {
  let home: Home
  let screen: ClientExample.Screen
  let manager: HomeManager

  static func main() async throws {
    guard let directory = CommandLine.arguments.dropFirst().first else {
      print("usage: ExampleHome DIRECTORY")
      exit(64)
    }
    let application = Application(try await HomeExample.open(StateDirectory(directory)))
    _ = try await ClientExample.record(application.home)
    try await application.observe()
    await application.home.close()
  }

  /// - Parameter home: a followed home.
  init(_ home: Home) {
    self.home = home
    // Delegates: changes by other clients, and reports of devices.
    (screen, manager) = ClientExample.delegates(home)
  }

  /// Observes the current state and its changes, with sequences and closures, until the task is canceled.
  func observe() async throws {
    let device = try await home.devices().having(OnOffLightDeviceType.self).list().first
    var handles = [HomeExample.closure(home), HomeExample.operators(home), HomeExample.filters(home)]
    if let device { handles += [HomeExample.device(home, device.id), HomeExample.allTypes(device)] }
    await withDiscardingTaskGroup { group in
      group.addTask { await HomeExample.snapshots(home) }
      group.addTask { await HomeExample.changes(home) }
      if let device { group.addTask { await HomeExample.reports(device) } }
    }
    for handle in handles { handle.cancel() }
  }
}
