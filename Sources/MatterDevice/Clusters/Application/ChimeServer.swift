internal import MatterClusters
public import MatterModel
internal import MatterProtocol

/// The Chime server: plays one of several sounds. Application Clusters, Chime.
public enum ChimeServer {
  /// How long a sound plays.
  static let playingTime = Duration.seconds(3)

  /// The name of the sound that plays.
  fileprivate struct Playback: Sendable {
    var sound: String?
  }

  /// Returns the server. The number of a sound is its index. SelectedChime and Enabled survive a restart.
  ///
  /// A sound plays for `playingTime`; PlayChimeSound starts it again. If the chime is disabled, the command succeeds
  /// without a sound.
  /// - Parameter sounds: The names, 1 to 48 bytes each, 255 at most.
  public static func make(_ sounds: [String]) -> ClusterServer {
    let installed = sounds.enumerated().map { Chime.ChimeSoundStruct(chimeID: UInt8(clamping: $0), name: $1) }
    @Sendable func isInstalled(_ chime: UInt8) -> Bool { installed.contains { $0.chimeID == chime } }
    return ClusterServer(Chime.self)
      .initial(Chime.installedChimeSounds, installed)
      .onWrite(Chime.selectedChime) { (_, chime) throws(StatusError) in
        guard isInstalled(chime) else { throw StatusError(.notFound) }
      }
      .onAct(Chime.selectedChime) { (context, chime) throws(StatusError) in
        guard isInstalled(chime) else { throw StatusError(.constraintError) }
        context[Chime.selectedChime] = chime
      }
      .on(Chime.playChimeSound) { context, _ in
        guard context[Chime.enabled] else { return }
        let selected = context[Chime.selectedChime]
        context[scratch: Playback.self] = Playback(sound: installed.first { $0.chimeID == selected }?.name)
        context.schedule(.holdEnd, at: context.now + playingTime)
      }
      .onTimer(.holdEnd) { context in context[scratch: Playback.self] = Playback() }
      .onStart { context in
        // A changed definition may have fewer sounds than the last run.
        if !isInstalled(context[Chime.selectedChime]) { context[Chime.selectedChime] = 0 }
      }
  }
}

extension ServerContext {
  /// Returns the name of the sound that the chime of an endpoint plays; nil while it plays none.
  func playingChime(on endpoint: EndpointID) -> String? {
    node.index(ClusterPath(endpoint, Chime.id))
      .flatMap { node.clusters[$0].scratch[ObjectIdentifier(ChimeServer.Playback.self)] as? ChimeServer.Playback }?
      .sound
  }
}

extension DeviceEngine {
  /// Returns the name of the sound that the chime of an endpoint plays; nil while it plays none.
  public func playingChime(on endpoint: EndpointID) -> String? { context.playingChime(on: endpoint) }
}
