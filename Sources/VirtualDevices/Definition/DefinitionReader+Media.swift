internal import MatterClusters
internal import MatterDevice
internal import MatterModel
internal import Yams

// The key `media` of video players, `modes` of selectors, and `sounds` of chimes.
extension DefinitionReader {
  /// The longest duration of a title.
  private static let longestTitle = Duration.seconds(24 * 3600)

  /// Returns the modes of a selector; nil without the key.
  mutating func readModes(_ fields: [String: Node], of kind: DeviceKind?) -> [String]? {
    // Other kinds have a program, see `readProgram`.
    guard kind == .modeSelect, let node = fields["modes"] else { return nil }
    return names(node, 1...32, bytes: 64, example: "[Low, High]")
  }

  /// Returns the sounds of a chime; nil without the key.
  mutating func readSounds(_ fields: [String: Node], of kind: DeviceKind?) -> [String]? {
    guard let node = fields["sounds"], isPlaced(node, "sounds", kind, in: [.chime]) else { return nil }
    return names(node, 1...32, bytes: 48, example: "[Ding Dong, Westminster]")
  }

  /// Returns the contents and connections of a video player; nil without the key.
  mutating func readMedia(_ fields: [String: Node], of kind: DeviceKind?) -> MediaSettings? {
    let keys = ["titles", "channels", "inputs", "outputs", "targets", "audio", "subtitles"]
    guard let node = fields["media"], isPlaced(node, "media", kind, in: [.basicVideoPlayer]),
      let fields = self.fields(of: node, known: keys, what: "the media of a video player")
    else { return nil }
    var media = MediaSettings()
    if let node = fields["titles"] { media.titles = readTitles(node) }
    if let node = fields["channels"] { media.channels = readChannels(node) }
    if let node = fields["inputs"] {
      media.inputs = entries(node, 0...32, bytes: 64, example: "{ HDMI 1: HDMI }").compactMap { name, node in
        named(node, MediaInput.InputType.self).map { MediaSettings.Input(name, $0) }
      }
    }
    if let node = fields["outputs"] {
      media.outputs = entries(node, 0...32, bytes: 64, example: "{ Speakers: Internal }").compactMap { name, node in
        named(node, AudioOutput.OutputType.self).map { MediaSettings.Output(name, $0) }
      }
    }
    if let node = fields["targets"] {
      media.targets = names(node, 0...32, bytes: 64, example: "[Home, Settings]")
    }
    if let node = fields["audio"] { media.audio = readTracks(node) }
    if let node = fields["subtitles"] { media.subtitles = readTracks(node) }
    if media.titles.isEmpty, media.channels.isEmpty {
      report(
        at: document.mark(of: node), found: "neither titles nor channels", expected: "at least one of either of them")
    }
    return media
  }

  private mutating func readTitles(_ node: Node) -> [MediaSettings.Title] {
    entries(node, 0...64, bytes: 64, example: "{ Short Film: 12m }").compactMap { name, node in
      guard let time = readTime(node, at: node, name) else { return nil }
      guard time >= .seconds(1), time <= Self.longestTitle else {
        report(node, expected: "a time from 1s to 24h")
        return nil
      }
      return .init(name, time)
    }
  }

  private mutating func readChannels(_ node: Node) -> [MediaSettings.Station] {
    var lines: [[UInt16]: Int] = [:]
    return entries(node, 0...64, bytes: 32, example: "{ News: 6, Sports: 9.1 }").compactMap { name, node in
      let parts = (node.scalar?.string ?? "").split(separator: ".", omittingEmptySubsequences: false)
      let numbers = parts.compactMap { UInt16($0) }
      guard let major = numbers.first, numbers.count == parts.count, numbers.count <= 2 else {
        report(node, expected: "a channel number such as 6 or 9.1")
        return nil
      }
      let mark = document.mark(of: node)
      let number = [major, numbers.count > 1 ? numbers[1] : 0]
      if let line = lines.updateValue(mark.line, forKey: number) {
        report(
          at: mark, found: "channel \(node.summary) again", expected: "each number once; it is in line \(line) already")
      }
      return .init(name, number[0], number[1])
    }
  }

  private mutating func readTracks(_ node: Node) -> [MediaSettings.Track] {
    guard case .mapping(let mapping) = node, mapping.count <= 16 else {
      report(node, expected: "at most 16 languages with their names, such as { en: English }")
      return []
    }
    var tracks: [MediaSettings.Track] = []
    for (key, value) in mapping {
      guard let language = key.scalar?.string, (2...32).contains(language.utf8.count),
        language.utf8.allSatisfy({ $0.isLanguageTag }), !tracks.contains(where: { $0.language == language })
      else {
        report(key, expected: "a language tag such as en or pt-BR, each one once")
        continue
      }
      guard let name = text(value) else { continue }
      tracks.append(.init(language, name.value))
    }
    return tracks
  }

  /// Reads a list of different names.
  private mutating func names(
    _ node: Node, _ range: ClosedRange<Int>, bytes: Int, example: String
  ) -> [String] {
    guard case .sequence(let sequence) = node, range.contains(sequence.count) else {
      report(node, expected: "a list of \(range.lowerBound) to \(range.upperBound) names, such as \(example)")
      return []
    }
    var names: [String] = []
    for node in sequence {
      guard let name = node.scalar?.string, !node.isNull, (1...bytes).contains(name.utf8.count),
        !names.contains(where: { $0.lowercased() == name.lowercased() })
      else {
        report(node, expected: "a name of 1 to \(bytes) bytes, each one once")
        continue
      }
      names.append(name)
    }
    return names
  }
}

extension UInt8 {
  /// Whether the character may be in a language tag. RFC 5646 § 2.1.
  fileprivate var isLanguageTag: Bool {
    self == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
  }
}
