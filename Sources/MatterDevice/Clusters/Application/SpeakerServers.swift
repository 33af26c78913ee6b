import MatterClusters

/// The servers of a speaker. Device Library § 10.4.
public enum SpeakerServers {
  /// Returns On/Off, which is off while the speaker is muted, and Level Control, whose level is the volume, at most 254.
  /// Muting keeps the level. While a speaker is muted, commands set its volume only with ExecuteIfOff or “WithOnOff”.
  public static func make() -> [ClusterServer] {
    [
      OnOffServer.make(features: [], isOn: true),
      LevelControlServer.make(features: [], level: 127).initial(LevelControl.minLevel, 0),
    ]
  }
}
