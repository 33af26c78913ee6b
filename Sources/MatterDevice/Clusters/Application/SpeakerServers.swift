import MatterClusters

/// The servers of a speaker. Device Library § 10.4.
public enum SpeakerServers {
  /// Returns On/Off, which is off while the speaker is muted, and Level Control, whose level is the volume, at most 254.
  /// The two are independent: a command for the level of a muted speaker sets the volume that it has later.
  public static func make() -> [ClusterServer] {
    [
      OnOffServer.make(features: [], isOn: true),
      LevelControlServer.make(features: [], level: 127).initial(LevelControl.minLevel, 0),
    ]
  }
}
