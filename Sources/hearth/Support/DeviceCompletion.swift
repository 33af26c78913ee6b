import ArgumentParser
import Foundation
import Home

extension CompletionKind {
  /// The home's devices, as a shell completes them.
  static var device: CompletionKind {
    .custom { words, _, prefix in DeviceCompletion.names(words, prefix) }
  }
}

/// Names for a shell to offer. Whatever is wrong, there is nothing to offer: a shell has no use for an error.
enum DeviceCompletion {
  static func names(_ words: [String], _ prefix: String) -> [String] {
    var state: StateDirectory?
    if let index = words.firstIndex(of: "--state"), index + 1 < words.count {
      state = StateDirectory(URL(filePath: words[index + 1]).standardizedFileURL.path)
    }
    guard
      let directory = state ?? (try? StateDirectory.standard(environment: ProcessInfo.processInfo.environment)),
      let registry = try? StoredNames(directory).registry()
    else { return [] }
    return names(of: registry, prefix)
  }

  /// `room/name` for each device, the name alone where only one has it, and `room/*` for all devices of a room.
  static func names(of registry: HomeRegistry, _ prefix: String) -> [String] {
    var names: [String] = []
    for device in registry.devices {
      let twins = registry.devices.filter { $0.name.lowercased() == device.name.lowercased() }
      if twins.count == 1 { names.append(device.name) }
      if device.room != nil { names.append(device.fullName) }
    }
    names += registry.rooms.map { "\($0)/*" }
    let wanted = prefix.lowercased()
    return names.filter { $0.lowercased().hasPrefix(wanted) }.sorted()
  }
}
