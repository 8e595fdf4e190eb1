package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.stream.DriverCommands;
import io.github.iree4j.hal.stream.DriverTimeline;
import io.github.iree4j.hal.stream.Lane;
import io.github.iree4j.hal.stream.Submission;
import io.github.iree4j.nativeaccess.vulkan.VulkanHandle;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/** A queue of a device, and the timeline signalled by submissions. */
final class VulkanLane implements Lane {
    private static final int INITIAL_WORDS = 64;

    private static final int WORD = Long.BYTES;

    private final VulkanHandle device;
    private final int index;
    private final int family;
    private final boolean computes;
    private final NativeTimeline timeline;
    private final ValidationLog messages;
    private MemorySegment words = words(INITIAL_WORDS); // scratch of the submitting thread

    VulkanLane(VulkanHandle device, int index, ValidationLog messages) {
        this.device = device;
        this.index = index;
        this.family = device.queueFamily(index);
        this.computes = device.properties().queueFamilies().get(family).computes();
        this.timeline = new NativeTimeline(device.createTimeline(0));
        this.messages = messages;
    }

    private static MemorySegment words(long count) {
        return Arena.ofAuto().allocate(count * WORD, WORD);
    }

    @Override
    public int family() {
        return family;
    }

    @Override
    public boolean computes() {
        return computes;
    }

    @Override
    public DriverTimeline timeline() {
        return timeline;
    }

    @Override
    public void submit(List<Submission> submissions) {
        long needed = 0;
        for (Submission each : submissions) {
            needed += 3 + 2L * each.waitCount() + 2 + 1;
        }
        if (words.byteSize() < needed * WORD) {
            words = words(needed * 2);
        }
        int at = 0;
        for (Submission each : submissions) {
            DriverCommands commands = each.commands();
            at = put(at, each.waitCount());
            at = put(at, 1);
            at = put(at, commands == null ? 0 : 1);
            for (int i = 0; i < each.waitCount(); i++) {
                at = put(at, handle(each.waitTimeline(i)));
                at = put(at, each.waitValue(i));
            }
            at = put(at, handle(timeline));
            at = put(at, each.ticket());
            if (commands != null) {
                at = put(at, ((NativeCommands) commands).commands().handle());
            }
        }
        try {
            device.submit(index, words.asSlice(0, (long) at * WORD));
        } finally {
            messages.look("submitting", describe(submissions));
        }
    }

    private static long handle(DriverTimeline timeline) {
        return ((NativeTimeline) timeline).timeline().handle();
    }

    private int put(int at, long word) {
        words.setAtIndex(ValueLayout.JAVA_LONG, at, word);
        return at + 1;
    }

    private static String describe(List<Submission> submissions) {
        String first = submissions.getFirst().name();
        return submissions.size() == 1 ? first : first + " and " + (submissions.size() - 1) + " more";
    }

    void close() {
        timeline.close();
    }
}
