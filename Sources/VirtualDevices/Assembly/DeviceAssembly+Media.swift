import MatterClusters
import MatterDevice

// Selectors, chimes, speakers and video players.
extension DeviceAssembly {
  /// The modes of a selector whose definition names none.
  static let usualModes = ["Low", "Medium", "High"]
  /// The sounds of a chime whose definition names none.
  static let usualSounds = ["Ding Dong", "Westminster", "Buzzer"]

  /// Returns the application endpoints of a media device, a chime or a selector; nil for other kinds.
  static func mediaUnits(of kind: DeviceKind, _ device: DeviceDefinition? = nil) -> [Unit]? {
    switch kind {
    case .modeSelect:
      return [Unit(type: DeviceTypes.modeSelect, servers: [ModeSelectServer.make(device?.modes ?? usualModes)])]
    case .chime:
      return [Unit(type: DeviceTypes.chime, servers: sensor(ChimeServer.make(device?.sounds ?? usualSounds)))]
    case .speaker:
      return [Unit(type: DeviceTypes.speaker, servers: SpeakerServers.make())]
    case .basicVideoPlayer:
      return [
        Unit(
          type: DeviceTypes.basicVideoPlayer,
          servers: player(device?.media ?? MediaSettings(), device.map(hardwareAddress) ?? [])),
        Unit(type: DeviceTypes.speaker, servers: SpeakerServers.make(), isPart: true),
      ]
    default: return nil
    }
  }

  /// The names of the parts of a media device.
  static func mediaParts(of kind: DeviceKind) -> [String] { kind == .basicVideoPlayer ? ["Speaker"] : [] }

  /// - Parameter address: the MAC address.
  private static func player(_ media: MediaSettings, _ address: [UInt8]) -> [ClusterServer] {
    var servers = [
      OnOffServer.make(features: []).switchingPlayer(), MediaPlaybackServer.make(media), KeypadInputServer.make(),
      StandbyServers.lowPower(), StandbyServers.wakeOnLAN(address),
    ]
    if !media.channels.isEmpty { servers.append(ChannelServer.make(media.channels)) }
    if !media.inputs.isEmpty { servers.append(MediaInputServer.make(media.inputs)) }
    if !media.outputs.isEmpty { servers.append(AudioOutputServer.make(media.outputs)) }
    if !media.targets.isEmpty { servers.append(TargetNavigatorServer.make(media.targets)) }
    return servers
  }
}
