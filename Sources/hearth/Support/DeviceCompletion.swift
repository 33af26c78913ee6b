import ArgumentParser
import Foundation
import HearthHome

extension CompletionKind {
  /// Completes the names of the home's devices.
  static var device: CompletionKind {
    .custom { words, _, prefix in DeviceCompletion.names(words, prefix) }
  }
}

/// Shell completion of device names. Returns no names in case of an error, because a shell can't show it.
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

  /// Returns `room/name` for each device, unique names without the room, and `room/*` for each room.
  static func names(of registry: HomeRegistry, _ prefix: String) -> [String] {
    var names: [String] = []
    for device in registry.devices {
      let twins = registry.devices.filter { $0.name.lowercased() == device.name.lowercased() }
      if twins.count == 1 { names.append(device.name) }
      if device.room != nil { names.append(device.fullName) }
    }
    names += registry.rooms.map { "\($0.name)/*" }
    let wanted = prefix.lowercased()
    return names.filter { $0.lowercased().hasPrefix(wanted) }.sorted()
  }
}
