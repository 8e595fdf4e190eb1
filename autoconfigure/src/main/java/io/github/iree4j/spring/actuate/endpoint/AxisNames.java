package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Device;
import io.github.iree4j.spring.actuate.endpoint.FrontierDescriptor.Entry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Names of the axes of a runtime's queues. */
final class AxisNames {

    private final IreeRuntime runtime;
    private final Map<Long, String> names = new HashMap<>();

    AxisNames(IreeRuntime runtime) {
        this.runtime = runtime;
        for (Device device : runtime.devices()) {
            for (int i = 0; i < device.queueCount(); i++) {
                names.put(device.queue(i).axis(), runtime.nameOf(device) + "/" + i);
            }
        }
    }

    /** Device and queue, or the textual form of the axis when it is not of this runtime. */
    String name(long axis) {
        return names.getOrDefault(axis, Axis.toString(axis));
    }

    long completed(long axis) {
        return runtime.device().schedulingDomain().tracker().completed(axis);
    }

    List<Entry> entries(Frontier frontier) {
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < frontier.size(); i++) {
            entries.add(new Entry(
                    name(frontier.axis(i)),
                    Axis.toString(frontier.axis(i)),
                    frontier.epoch(i),
                    completed(frontier.axis(i))));
        }
        return entries;
    }
}
