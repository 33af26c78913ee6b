extension Init.Kind {
  static let mediaDefinition = """
    # Media devices: a video player and a speaker.
    #
    #   hearth run FILE              start them; Ctrl-C stops them
    #   hearth pair CODE             for each device, with the code that `hearth run` prints
    #   hearth invoke tv.mediaPlayback.next
    #   hearth sim set TV.remote=ChannelUp      use the remote control
    #   hearth sim ps                list the devices with what they play

    home: My media

    devices:
      # While it is on, it plays the titles one after the other, from the position at which it was switched off.
      - name: TV
        room: Living Room
        type: basic video player
        attributes: { onOff.onOff: true }
        media:
          # Titles with their durations, and channels with their numbers.
          titles: { Documentary: 45m, Short Film: 12m, Feature Film: 110m }
          channels: { News: 1, Sports: 2, Local News: 4.1 }
          # Physical inputs and audio outputs with their types.
          inputs: { HDMI 1: HDMI, HDMI 2: HDMI, Antenna: Coax }
          outputs: { Speakers: Internal, Headphones: Headphone }
          # Pages of the user interface.
          targets: [Home, Settings]
          # The languages of all titles.
          audio: { en: English, es: Español }
          subtitles: { en: English, es: Español }

      # On is not muted. The level is the volume, at most 254.
      - name: Radio
        room: Kitchen
        type: speaker
        attributes: { levelControl.currentLevel: 76 }

    """
}
