import MatterClusters
import MatterModel

/// The Channel server of a video player, with a fixed list of channels. Application Clusters § 6.6.
public enum ChannelServer {
  /// The player tuned to a channel, or left it (nil).
  static let tuned = ServerHook<Channel, Int?>("tuned")
  /// Tunes to another channel by its distance in the list.
  static let skipped = ServerHook<Channel, Int>("skipped")
  /// Tunes to the channel with a number such as `9.1`, or `9` for `9.0`.
  static let select = ServerHook<Channel, String>("select")

  /// The channel that was tuned last.
  private struct Last: Sendable { var index = 0 }

  /// Returns the server. The endpoint has to serve Media Playback.
  /// - Parameter stations: At least one.
  public static func make(_ stations: [MediaSettings.Station]) -> ClusterServer {
    let list = stations.map {
      Channel.ChannelInfoStruct(majorNumber: $0.major, minorNumber: $0.minor, name: $0.name)
    }
    return ClusterServer(Channel.self, features: [Channel.channelListFeature])
      .initial(Channel.channelList, list)
      .initial(Channel.currentChannel, .null)
      .hook(tuned) { context, index in
        guard let index, list.indices.contains(index) else {
          context[Channel.currentChannel] = .null
          return
        }
        context[scratch: Last.self] = Last(index: index)
        context[Channel.currentChannel] = .value(list[index])
      }
      .hook(skipped) { context, distance in try? skip(distance, list.count, &context) }
      .hook(select) { context, number in
        let number = number.contains(".") ? number : number + ".0"
        if let index = stations.firstIndex(where: { $0.number == number }) { try? tune(to: index, &context) }
      }
      .answer(Channel.changeChannel) { context, request throws(StatusError) in
        let matches = matches(request.match, stations)
        guard let index = matches.first else { return .init(status: .noMatches) }
        guard matches.count == 1 else { return .init(status: .multipleMatches) }
        try tune(to: index, &context)
        return .init(status: .success)
      }
      .on(Channel.changeChannelByNumber) { context, request throws(StatusError) in
        let index = list.firstIndex {
          $0.majorNumber == request.majorNumber && $0.minorNumber == request.minorNumber
        }
        guard let index else { throw StatusError(.constraintError) }
        try tune(to: index, &context)
      }
      .on(Channel.skipChannel) { context, request throws(StatusError) in
        try skip(Int(request.count), list.count, &context)
      }
  }

  /// Returns the channels with this name, or else with this number, ignoring case. § 6.6.7.1.
  private static func matches(_ text: String, _ stations: [MediaSettings.Station]) -> [Int] {
    let names = stations.indices.filter { stations[$0].name.lowercased() == text.lowercased() }
    return names.isEmpty ? stations.indices.filter { stations[$0].number == text } : names
  }

  private static func tune(to index: Int, _ context: inout ServerContext) throws(StatusError) {
    guard context.value(OnOff.onOff) ?? true else { throw StatusError(.invalidInState) }
    context.call(MediaPlaybackServer.tune, index)
  }

  /// The ends of the list are connected.
  private static func skip(_ distance: Int, _ count: Int, _ context: inout ServerContext) throws(StatusError) {
    guard count > 0 else { throw StatusError(.invalidInState) }
    let index = context[scratch: Last.self, default: Last()].index
    try tune(to: (index + distance % count + count) % count, &context)
  }
}
