package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.spring.LoadPolicy;
import io.github.iree4j.spring.Placement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * The {@code iree.*} properties.
 *
 * @param enabled Whether to configure the runtime.
 * @param device Device of programs that name none. A name of 'iree.devices', or what to open: a driver's name or
 *     'driver://id'. When not set, 'local' if there is no other, else the first of 'iree.devices'.
 * @param devices Devices by name.
 * @param queues Queues of devices by name, to be injected.
 * @param pools Memory of devices, by the name of the device.
 * @param modules Compiled programs by name.
 * @param executables Code that programs bring along.
 * @param task Workers that run compiled code of the CPU and calls that wait.
 * @param frontier What is remembered of the order of work.
 * @param invocation Calls of functions.
 */
@ConfigurationProperties("iree")
public record IreeProperties(
        @DefaultValue("true") boolean enabled,
        @Nullable String device,
        @DefaultValue Map<String, Device> devices,
        @DefaultValue Map<String, Queue> queues,
        @DefaultValue Map<String, Pool> pools,
        @DefaultValue Map<String, Module> modules,
        @DefaultValue Executables executables,
        @DefaultValue Task task,
        @DefaultValue Frontier frontier,
        @DefaultValue Invocation invocation) {

    /** The device that programs run on when nothing is configured. */
    static final String DEFAULT_DEVICE = "local";

    /** The name of the device of programs that name none. */
    String defaultDevice() {
        if (device != null) {
            return device;
        }
        return devices.isEmpty() || devices.containsKey(DEFAULT_DEVICE)
                ? DEFAULT_DEVICE
                : devices.keySet().iterator().next();
    }

    /** The devices that the runtime needs by name: the default one, those configured, then those that others name, each once. */
    Map<String, Device> allDevices() {
        Map<String, Device> all = new LinkedHashMap<>();
        all.put(defaultDevice(), devices.getOrDefault(defaultDevice(), Device.DEFAULT));
        all.putAll(devices);
        modules.values().forEach(module -> module.devices().forEach(name -> all.putIfAbsent(name, Device.DEFAULT)));
        queues.values().forEach(queue -> all.putIfAbsent(deviceOf(queue), Device.DEFAULT));
        return all;
    }

    /** The device of a queue. */
    String deviceOf(Queue queue) {
        return queue.device() == null ? defaultDevice() : queue.device();
    }

    /** How many queues a device needs; 0 for what it has. */
    int queueCount(String deviceName) {
        Device configured = allDevices().getOrDefault(deviceName, Device.DEFAULT);
        int named = queues.values().stream()
                .filter(queue -> deviceOf(queue).equals(deviceName))
                .mapToInt(queue -> queue.index() + 1)
                .max()
                .orElse(0);
        return Math.max(configured.queueCount(), named);
    }

    /** The modules that are loaded beside the start of the application. */
    List<String> backgroundModules() {
        return modules.entrySet().stream()
                .filter(module -> module.getValue().load() == LoadPolicy.BACKGROUND)
                .map(Map.Entry::getKey)
                .toList();
    }

    /** The devices of a module. */
    List<String> devicesOf(Module module) {
        return module.devices().isEmpty() ? List.of(defaultDevice()) : module.devices();
    }

    /**
     * A device.
     *
     * @param uri What to open: a driver's name or 'driver://id'. Same as the name when not set.
     * @param queueCount Number of queues. As many as 'iree.queues' names, when that is more; 0 for what the device has,
     *     which is one on the CPU and one for each queue of the hardware elsewhere.
     * @param inlineWork Longest work that the thread that submits it may do itself, when nothing is waiting. Zero for
     *     none, as event loops want it.
     */
    public record Device(
            @Nullable String uri,
            @DefaultValue("0") int queueCount,
            @DefaultValue("5us") Duration inlineWork) {

        static final Device DEFAULT = new Device(null, 0, Duration.ofNanos(5_000));
    }

    /**
     * A queue that has a name.
     *
     * @param device Device of the queue. Same as 'iree.device' when not set.
     * @param index Which queue of the device it is, from 0.
     */
    public record Queue(
            @Nullable String device, @DefaultValue("0") int index) {}

    /**
     * Memory of a device.
     *
     * @param budget Most that all buffers of the device may take at once. What the device has when not set.
     * @param quotas Most that a program may have of it at once, by the program's name in 'iree.modules'.
     * @param trim When memory that nobody uses goes back to the system.
     * @param waiting How long calls wait for memory.
     */
    public record Pool(
            @Nullable DataSize budget,
            @DefaultValue Map<String, DataSize> quotas,
            @DefaultValue Trim trim,
            @DefaultValue Waiting waiting) {

        static final Pool DEFAULT = new Pool(null, Map.of(), Trim.DEFAULT, Waiting.DEFAULT);

        /**
         * How long calls wait for memory.
         *
         * @param limit Longest that work waits for memory before it fails.
         * @param host Longest that work waits for memory that only the application can free, by closing results and tensors.
         */
        public record Waiting(
                @DefaultValue("30s") Duration limit,
                @DefaultValue("1s") Duration host) {

            static final Waiting DEFAULT = new Waiting(Duration.ofSeconds(30), Duration.ofSeconds(1));
        }

        /**
         * When memory goes back.
         *
         * @param idleAfter How long memory that nobody uses is kept for whoever asks next.
         * @param retained Most that is kept of large blocks, which have memory of their own.
         */
        public record Trim(
                @DefaultValue("60s") Duration idleAfter,
                @DefaultValue("256MB") DataSize retained) {

            static final Trim DEFAULT = new Trim(Duration.ofMinutes(1), DataSize.ofMegabytes(256));
        }
    }

    /**
     * One compiled program.
     *
     * @param location Location of the module file (.vmfb). A file, unless it starts with a scheme such as
     *     'classpath:'.
     * @param sha256 Checksum that the module file must have, in hexadecimal.
     * @param mapped Whether the module file is mapped rather than read into memory of its own. Saves memory and time for large ones. The file
     *     must not be overwritten or truncated then: that changes results, or ends the process.
     * @param version Version of the module at 'location'.
     * @param versions Further versions by name.
     * @param devices Devices of this program. Same as 'iree.device' when not set.
     * @param placement What several devices are for.
     * @param parameters Locations of parameter files (.irpa, .gguf, .safetensors) by scope. Scope 'default' also serves programs that name
     *     none.
     * @param contexts Number of calls that run at the same time, each on state of its own.
     * @param overlappingCalls Whether one call may run while another waits. For programs whose functions leave nothing
     *     behind that a call must find as it left it.
     * @param load When to load the program.
     * @param warmUp Calls to make before the program counts as loaded.
     * @param variants Functions that stand for several compiled ones, by name. Each call takes the one that fits its shapes.
     * @param timeout Longest that a call may take. Same as 'iree.invocation.timeout' when not set.
     * @param batching Whether and how calls are gathered.
     * @param resilience What protects the program, and those who call it, when it fails or is slow.
     */
    public record Module(
            @Nullable String location,
            @Nullable String sha256,
            @DefaultValue("false") boolean mapped,
            @DefaultValue("1") String version,
            @DefaultValue Map<String, Version> versions,
            @DefaultValue List<String> devices,
            @DefaultValue("fixed") Placement placement,
            @DefaultValue Map<String, List<String>> parameters,
            @DefaultValue("1") int contexts,
            @DefaultValue("false") boolean overlappingCalls,
            @DefaultValue("eager") LoadPolicy load,
            @DefaultValue List<WarmUp> warmUp,
            @DefaultValue Map<String, Variants> variants,
            @Nullable Duration timeout,
            @DefaultValue Batching batching,
            @DefaultValue Resilience resilience) {

        /**
         * A further version of a program.
         *
         * @param location Location of the module file (.vmfb).
         * @param sha256 Checksum that the module file must have, in hexadecimal.
         * @param parameters Locations of parameter files (.irpa, .gguf, .safetensors) by scope. Those of the module when there are none.
         */
        public record Version(
                @Nullable String location,
                @Nullable String sha256,
                @DefaultValue Map<String, List<String>> parameters) {}

        /**
         * A function that stands for several compiled ones.
         *
         * @param shapes Which dimensions of arguments and results belong together, such as '[batch length], [batch length] mask -> [batch 384]'.
         *     What the module declares when not set.
         * @param functions Names of the compiled functions, in which '*' stands for any characters, and '{axis}' for the size of an axis where
         *     the module says nothing of shapes. Those that are called like this one, or so with an ending after an underscore, when empty.
         * @param modules Further module files with such functions. They get the parameters of the program.
         * @param dynamicCost What an element costs a function that was compiled without knowing all sizes, compared with one
         *     that was. Calls are padded up to that many times their size rather than made without padding.
         */
        public record Variants(
                @Nullable String shapes,
                @DefaultValue List<String> functions,
                @DefaultValue List<VariantModule> modules,
                @DefaultValue("4") double dynamicCost) {}

        /**
         * A further module file.
         *
         * @param location Location of the module file (.vmfb).
         * @param sha256 Checksum that the module file must have, in hexadecimal.
         * @param sizes Sizes that it was compiled for, by axis, where it does not say so itself, as modules made from ONNX.
         */
        public record VariantModule(
                @Nullable String location,
                @Nullable String sha256,
                @DefaultValue Map<String, Long> sizes) {}

        /**
         * Calls of one function.
         *
         * @param function Name of the function.
         * @param inputs Its inputs, such as '1x64xf32=0' or '42'. Elements without values are zero.
         * @param repeat Number of calls on each context.
         */
        public record WarmUp(
                String function,
                @DefaultValue List<String> inputs,
                @DefaultValue("1") int repeat) {}
    }

    /**
     * How calls of one program are gathered: calls that come close together are made as one, along the first dimension of their inputs.
     *
     * @param enabled Whether to gather calls. For functions that treat each row of their inputs alike.
     * @param maxSize Most rows of one call.
     * @param maxDelay Longest that a call waits for others.
     * @param buckets Numbers of rows that calls are filled up to, for programs compiled for these sizes. Any number of
     *     rows when empty.
     */
    public record Batching(
            @DefaultValue("false") boolean enabled,
            @DefaultValue("32") int maxSize,
            @DefaultValue("2ms") Duration maxDelay,
            @DefaultValue List<Integer> buckets) {}

    /**
     * What protects a program with the help of Resilience4j, each under the name 'iree.' and that of the program, so that
     * 'resilience4j.*' sets the numbers.
     *
     * @param circuitBreaker Whether calls are refused for a while after too many failed.
     * @param bulkhead Whether calls are refused while too many are under way.
     * @param timeLimiter Whether calls that take too long are cancelled.
     * @param retry Whether calls that failed for a reason that passes are made again.
     */
    public record Resilience(
            @DefaultValue("false") boolean circuitBreaker,
            @DefaultValue("false") boolean bulkhead,
            @DefaultValue("false") boolean timeLimiter,
            @DefaultValue("false") boolean retry) {}

    /**
     * Code that programs bring along.
     *
     * @param allowedFormats Formats of executables that may run. All but 'system-elf-*' when empty: shared libraries, which the
     *     operating system loads, must be named. Native code can do anything that the
     *     application can; 'vmvx-bytecode-fb' alone keeps a program that is not trusted in a sandbox.
     */
    public record Executables(@DefaultValue Set<String> allowedFormats) {}

    /**
     * The workers of the runtime.
     *
     * @param workers Number of workers. Zero for one in each group of the topology.
     * @param topology Where workers are: 'auto' for each core that the process may use, how to choose, such as 'max=8
     *     nodes=0', or groups of processors, such as 'cpus=0,8; cpus=1,9'.
     * @param affinity Whether to bind each worker to the processors of its group.
     * @param scanPolicy Order in which workers look at work for several.
     */
    public record Task(
            @DefaultValue("0") int workers,
            @DefaultValue("auto") String topology,
            @DefaultValue("false") boolean affinity,
            @DefaultValue("round-robin") ScanOrder scanPolicy) {

        /** Order in which workers look at work for several. */
        public enum ScanOrder {
            /** All in turn. */
            ROUND_ROBIN,
            /** The highest priority first. */
            PRIORITY,
            /** In proportion to how many workers it wants. */
            BUDGET
        }
    }

    /**
     * What is remembered of the order of work.
     *
     * @param capacity Number of queues whose progress one operation can depend on and know of, 1 to 255. Beyond it, older
     *     knowledge is dropped, and what needed it waits.
     * @param history Number of the last signals of a timeline that keep what they depend on, 1 to 4096.
     */
    public record Frontier(
            @DefaultValue("12") int capacity,
            @DefaultValue("16") int history) {}

    /**
     * Calls of functions.
     *
     * @param timeout Longest that a call may take. No limit when not set.
     * @param drainTimeout How long calls under way may go on when the application stops; then they are cancelled.
     */
    public record Invocation(
            @Nullable Duration timeout, @DefaultValue("20s") Duration drainTimeout) {}
}
