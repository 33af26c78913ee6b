internal import MatterModel
internal import MatterProtocol

/// A home as one client asks for things in it: what it changes has its id on it.
final class HomeClient: HomeAccess {
  let id: String
  private let controller: HomeController

  init(_ id: String, of controller: HomeController) {
    self.id = id
    self.controller = controller
  }

  func invoke(
    _ command: CommandData, isTimed: Bool, of device: String, patience: Duration?
  ) async throws(HomeError) -> CommandData? {
    try await controller.invoke(command, isTimed: isTimed, of: device, patience: patience)
  }

  func write(
    _ writes: [AttributeWrite], isTimed: Bool, of device: String, patience: Duration?
  ) async throws(HomeError) {
    try await controller.write(writes, isTimed: isTimed, of: device, patience: patience)
  }

  func setName(_ name: String, of device: String) async throws(HomeError) -> NamedDevice {
    let wasCut = try await controller.change(origin: id) { state throws(HomeError) in
      let (wasCut, changes) = try state.renamingDevice(device, to: name)
      return (changes, wasCut)
    }
    guard let value = await controller.device(device) else {
      throw HomeError(.notFound, "there is no device \(device) in the home")
    }
    return NamedDevice(device: value.asked(through: self), wasCut: wasCut)
  }

  func reports(of device: String) -> AsyncStream<DeviceReport> {
    let reports = controller.reports(of: device)
    let (stream, continuation) = AsyncStream.makeStream(of: DeviceReport.self)
    let task = Task {
      for await report in reports {
        continuation.yield(DeviceReport(device: report.device.asked(through: self), changed: report.changed))
      }
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }
}
