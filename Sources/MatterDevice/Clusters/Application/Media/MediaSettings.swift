public import MatterClusters

/// The contents and the connections of a video player.
public struct MediaSettings: Hashable, Sendable {
  /// A title, which plays from its start to its end.
  public struct Title: Hashable, Sendable {
    /// The name for display.
    public var name: String
    /// The duration, at least one second.
    public var duration: Duration

    public init(_ name: String, _ duration: Duration) { (self.name, self.duration) = (name, duration) }
  }

  /// A channel, which is live.
  public struct Station: Hashable, Sendable {
    /// The name for display.
    public var name: String
    /// The channel number before the dot.
    public var major: UInt16
    /// The channel number after the dot.
    public var minor: UInt16

    public init(_ name: String, _ major: UInt16, _ minor: UInt16 = 0) {
      (self.name, self.major, self.minor) = (name, major, minor)
    }

    /// The number as clients write it: `9.1`.
    var number: String { "\(major).\(minor)" }
  }

  /// An audio or text track, which all titles have.
  public struct Track: Hashable, Sendable {
    /// The language tag of RFC 5646, which is also the id of the track.
    public var language: String
    /// The name for display.
    public var name: String

    public init(_ language: String, _ name: String) { (self.language, self.name) = (language, name) }
  }

  /// A physical input.
  public struct Input: Hashable, Sendable {
    /// The name for display, which clients may change.
    public var name: String
    /// The kind of connector.
    public var type: MediaInput.InputType

    public init(_ name: String, _ type: MediaInput.InputType) { (self.name, self.type) = (name, type) }
  }

  /// An audio output.
  public struct Output: Hashable, Sendable {
    /// The name for display, which clients may change.
    public var name: String
    /// The kind of output.
    public var type: AudioOutput.OutputType

    public init(_ name: String, _ type: AudioOutput.OutputType) { (self.name, self.type) = (name, type) }
  }

  /// The titles in their order.
  public var titles: [Title] = [
    .init("Documentary", .seconds(45 * 60)), .init("Short Film", .seconds(12 * 60)),
    .init("Feature Film", .seconds(110 * 60)),
  ]
  /// The channels in their order.
  public var channels: [Station] = [.init("News", 1), .init("Sports", 2), .init("Music", 3)]
  /// The physical inputs in their order.
  public var inputs: [Input] = [.init("HDMI 1", .hdmi), .init("HDMI 2", .hdmi), .init("Antenna", .coax)]
  /// The audio outputs in their order.
  public var outputs: [Output] = [.init("Speakers", .internal), .init("Headphones", .headphone)]
  /// The pages of the user interface.
  public var targets = ["Home", "Settings"]
  /// The audio tracks of all titles.
  public var audio: [Track] = [.init("en", "English"), .init("es", "Español")]
  /// The text tracks of all titles.
  public var subtitles: [Track] = [.init("en", "English"), .init("es", "Español")]

  /// Creates settings of an ordinary television set.
  public init() {}
}
