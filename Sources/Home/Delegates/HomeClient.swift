internal import MatterModel
internal import MatterProtocol
internal import Runtime

/// A home as one client asks for things in it: what it changes has its id on it.
final class HomeClient: HomeAccess {
  let id: String
  private let backend: any HomeBackend

  init(_ id: String, of backend: any HomeBackend) {
    self.id = id
    self.backend = backend
  }

  func invoke(
    _ command: CommandData, isTimed: Bool, of device: String, by way: SourceID?, patience: Duration?
  ) async throws(HomeError) -> CommandData? {
    try await backend.invoke(command, isTimed: isTimed, of: device, by: way, patience: patience)
  }

  func write(
    _ writes: [AttributeWrite], isTimed: Bool, of device: String, by way: SourceID?, patience: Duration?
  ) async throws(HomeError) {
    try await backend.write(writes, isTimed: isTimed, of: device, by: way, patience: patience)
  }

  func setName(_ name: String, of device: String) async throws(HomeError) -> NamedDevice {
    let (value, wasCut) = try await backend.setName(name, of: device, origin: id)
    return NamedDevice(device: value.asked(through: self), wasCut: wasCut)
  }

  func reports(of device: String) -> DeviceReports {
    var reports = backend.reports(of: device)
    reports.access = self
    return reports
  }
}
