package io.github.iree4j.spring.actuate.endpoint;

import java.time.Instant;
import java.util.List;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * All changing state, in a single response, for polling clients.
 *
 * @param time of the response
 * @param machine index of this machine
 * @param recording whether there is a flight recorder, whose records are at {@code recording}
 * @param activeCalls number of calls in flight
 * @param task the workers
 * @param peaks the largest values of gauges since the previous response
 * @param devices the devices
 * @param queues the queues
 * @param frontiers the frontiers of queues and timelines
 * @param taint ranges of externally signalled timelines
 * @param pools memory by device
 * @param memory blocks of memory by device
 * @param modules the programs
 * @param timelines pending work
 * @param problems the problems found at the watchdog's last look
 * @param events events since the previous response
 */
public record LiveDescriptor(
        Instant time,
        int machine,
        boolean recording,
        int activeCalls,
        TaskDescriptor task,
        PeaksDescriptor peaks,
        List<DeviceDescriptor> devices,
        List<QueueDescriptor> queues,
        FrontierDescriptor.All frontiers,
        TaintDescriptor taint,
        List<PoolDescriptor> pools,
        List<MemoryDescriptor> memory,
        List<ModuleDescriptor> modules,
        TimelinesDescriptor timelines,
        List<ProblemsDescriptor.Found> problems,
        EventsDescriptor events)
        implements OperationResponseBody {}
