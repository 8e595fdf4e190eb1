package io.github.iree4j.hal.vulkan;

import java.util.ArrayList;
import java.util.List;

/** Entries of streams that are over, gathered under a lock to be told without it. One thread. */
final class Ended {
    private final List<StreamEntry> entries = new ArrayList<>();

    void add(StreamEntry entry) {
        entries.add(entry);
    }

    /** Tells the schedulers; returns how many operations ended. */
    int tell() {
        for (int i = 0; i < entries.size(); i++) { // grows when telling has more end
            StreamEntry entry = entries.get(i);
            entry.stream.tell(entry);
        }
        return entries.size();
    }
}
