package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.spring.LoadPolicy;
import io.github.iree4j.spring.OnChange;
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
 * @param device Default device of programs. A name of 'iree.devices', or the device to open: a driver's name or
 *     'driver://id'. When not set, 'local', the CPU, regardless of 'iree.devices': adding a device moves no program.
 * @param devices Devices by name.
 * @param pools Memory of devices by device name.
 * @param modules Compiled programs by name.
 * @param integrity Proof required of program files before use.
 * @param executables Executable code embedded in programs.
 * @param task Workers running compiled CPU code and resuming waiting calls.
 * @param invocation Calls of functions.
 * @param recorder The flight recorder.
 * @param loading Loading of programs.
 * @param watchdog Reports of calls, operations and devices that do not advance.
 * @param leaks Results that are not closed.
 * @param advanced Rarely used properties.
 */
@ConfigurationProperties("iree")
@NotForApplications
public record IreeProperties(
        @DefaultValue("true") boolean enabled,
        @Nullable String device,
        @DefaultValue Map<String, Device> devices,
        @DefaultValue Map<String, Pool> pools,
        @DefaultValue Map<String, Module> modules,
        @DefaultValue Integrity integrity,
        @DefaultValue Executables executables,
        @DefaultValue Task task,
        @DefaultValue Invocation invocation,
        @DefaultValue Loading loading,
        @DefaultValue Watchdog watchdog,
        @DefaultValue Leaks leaks,
        @DefaultValue Recorder recorder,
        @DefaultValue Advanced advanced) {

    /** The device of programs when no device is configured. */
    static final String DEFAULT_DEVICE = "local";

    /**
     * Checks all properties that can be checked without devices and programs.
     *
     * @throws org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException naming the
     *     first property that is out of range
     */
    public void checkRanges() {
        new PropertyChecks(this).ranges();
    }

    /** Returns the name of the default device of programs. */
    String defaultDevice() {
        return device == null ? DEFAULT_DEVICE : device;
    }

    /**
     * Returns the devices opened by the runtime, by name: the default device, the configured devices, then the devices
     * named by modules and queues.
     */
    Map<String, Device> allDevices() {
        Map<String, Device> all = new LinkedHashMap<>();
        all.put(defaultDevice(), devices.getOrDefault(defaultDevice(), Device.DEFAULT));
        all.putAll(devices);
        modules.values().forEach(module -> module.devices().forEach(name -> all.putIfAbsent(name, Device.DEFAULT)));
        advanced.queues().values().forEach(queue -> all.putIfAbsent(deviceOf(queue), Device.DEFAULT));
        return all;
    }

    /** Returns the name of the device of a queue. */
    String deviceOf(Advanced.Queue queue) {
        return queue.device() == null ? defaultDevice() : queue.device();
    }

    /** Returns the number of queues needed on a device; 0 for the device's own number. */
    int queueCount(String deviceName) {
        int named = advanced.queues().values().stream()
                .filter(queue -> deviceOf(queue).equals(deviceName))
                .mapToInt(queue -> queue.index() + 1)
                .max()
                .orElse(0);
        return Math.max(advanced.device(deviceName).queueCount(), named);
    }

    /**
     * Returns the maximum duration of calls for modules with a specific timeout.
     *
     * @return timeouts by name
     */
    public Map<String, Duration> callTimeouts() {
        Map<String, Duration> timeouts = new LinkedHashMap<>();
        modules.forEach((name, module) -> {
            if (module.timeout() != null) {
                timeouts.put(name, module.timeout());
            }
        });
        return timeouts;
    }

    /** Returns the modules loaded in the background of application startup. */
    List<String> backgroundModules() {
        return modules.entrySet().stream()
                .filter(module -> module.getValue().load() == LoadPolicy.BACKGROUND)
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Returns the devices of a module. */
    List<String> devicesOf(Module module) {
        return module.devices().isEmpty() ? List.of(defaultDevice()) : module.devices();
    }

    /**
     * A device.
     *
     * @param uri Device to open: a driver's name or 'driver://id', such as 'cluster://1/local' for device 'local' of
     *     another node. The device's name when not set.
     * @param gpu Properties of CUDA and HIP devices.
     */
    public record Device(@Nullable String uri, @DefaultValue Gpu gpu) {

        static final Device DEFAULT = new Device(null, new Gpu(""));

        /**
         * Properties of CUDA and HIP devices.
         *
         * @param compiledCode Directory for machine code compiled by the driver, kept between runs, or 'off'. Other
         *     users must not be able to write to the directory. The user's cache directory when not set.
         */
        public record Gpu(@DefaultValue("") String compiledCode) {}
    }

    /**
     * Memory of a device.
     *
     * @param budget Maximum memory of all buffers of the device. When not set, the memory of the device; for the CPU,
     *     the lesser of half of the machine's available memory and three quarters of the container's remaining memory,
     *     each after subtracting the maximum size of the Java heap and a reserve of 512 MB, or of an eighth of the
     *     memory if smaller. At least an eighth of the memory, which in a small container may be more than the heap
     *     leaves. Divided among the CPU devices without a budget.
     * @param quotas Maximum memory of a program, by the program's name in 'iree.modules'.
     */
    public record Pool(
            @Nullable DataSize budget, @DefaultValue Map<String, DataSize> quotas) {

        static final Pool DEFAULT = new Pool(null, Map.of());
    }

    /**
     * A compiled program.
     *
     * @param location Location of the module file (.vmfb). A file path unless the value starts with a scheme such as
     *     'classpath:'.
     * @param sha256 Expected SHA-256 checksum of the module file, in hexadecimal.
     * @param signature Location of the module file's signature: Ed25519, of the file's SHA-256. The file's location
     *     with '.sig' when not set and signatures are required.
     * @param mapped Whether to map the module file rather than read the file into memory, unless verified. Saves memory
     *     and time for large files. A mapped file must not be overwritten or truncated: such a change fails calls;
     *     checksums of zip members are not verified.
     * @param version Version of the module at 'location'.
     * @param versions Further versions by name.
     * @param devices Devices of the program. The default device 'iree.device' when not set.
     * @param placement Use of several devices by the program.
     * @param parameters Locations of parameter files (.irpa, .gguf, .safetensors) by scope. Scope 'default' also serves
     *     programs without scope names.
     * @param contexts Number of concurrent calls, each with separate state. A beginning call goes to the context with the fewest calls.
     * @param load Time of loading the program.
     * @param warmUp Calls to make before the program counts as loaded.
     * @param variants Functions with shape variants, by name. Each call selects the variant fitting the call's shapes.
     * @param functions Functions, by name.
     * @param timeout Maximum duration of a call. Zero for no limit. Same as 'iree.invocation.timeout' when not set.
     * @param batching Batching of calls.
     * @param resilience Protection of the program and its callers against failures and slow calls.
     */
    public record Module(
            @Nullable String location,
            @Nullable String sha256,
            @Nullable String signature,
            @DefaultValue("false") boolean mapped,
            @DefaultValue("1") String version,
            @DefaultValue Map<String, Version> versions,
            @DefaultValue List<String> devices,
            @DefaultValue("fixed") Placement placement,
            @DefaultValue Map<String, List<String>> parameters,
            @DefaultValue("1") int contexts,
            @DefaultValue("eager") LoadPolicy load,
            @DefaultValue List<WarmUp> warmUp,
            @DefaultValue Map<String, Variants> variants,
            @DefaultValue Map<String, Function> functions,
            @Nullable Duration timeout,
            @DefaultValue Batching batching,
            @DefaultValue Resilience resilience) {

        /**
         * A further version of a program.
         *
         * @param location Location of the module file (.vmfb).
         * @param sha256 Expected SHA-256 checksum of the module file, in hexadecimal.
         * @param signature Location of the module file's signature, as for the module.
         * @param parameters Locations of parameter files (.irpa, .gguf, .safetensors) by scope. The module's parameter
         *     files when empty.
         */
        public record Version(
                @Nullable String location,
                @Nullable String sha256,
                @Nullable String signature,
                @DefaultValue Map<String, List<String>> parameters) {}

        /**
         * A function with shape variants.
         *
         * @param shapes Ties between dimensions of arguments and results, such as '[batch length], [batch length] mask
         *     -> [batch 384]'. The module's own declaration when not set.
         * @param functions Names of the compiled functions, in which '*' matches any characters, and '{axis}' the size
         *     of an axis where the module declares no shapes. Functions of this name, also with a suffix after an
         *     underscore, when empty.
         * @param modules Further module files with such functions. These modules share the parameters of the program.
         */
        public record Variants(
                @Nullable String shapes,
                @DefaultValue List<String> functions,
                @DefaultValue List<VariantModule> modules) {}

        /**
         * A function.
         *
         * @param signature Names of the function's values, and types that the module neither declares nor proves, in
         *     the syntax of MLIR, such as '(%image, %size) -> (%scores)'.
         */
        public record Function(@Nullable String signature) {}

        /**
         * A further module file.
         *
         * @param location Location of the module file (.vmfb).
         * @param sha256 Expected SHA-256 checksum of the module file, in hexadecimal.
         * @param sizes Axis sizes used for compilation, where the module neither declares nor proves the sizes.
         */
        public record VariantModule(
                @Nullable String location,
                @Nullable String sha256,
                @DefaultValue Map<String, Long> sizes) {}

        /**
         * Calls of a function.
         *
         * @param function Name of the function.
         * @param inputs Inputs of the function, such as '1x64xf32=0' or '42'. Elements without values are zero.
         * @param repeat Number of calls on each context.
         */
        public record WarmUp(
                @Nullable String function,
                @DefaultValue List<String> inputs,
                @DefaultValue("1") int repeat) {}
    }

    /**
     * Batching of a program's calls: calls arriving close together are merged along the first dimension of their
     * inputs.
     *
     * @param enabled Whether to batch calls. For functions processing each row of the inputs independently.
     * @param maxSize Maximum number of rows of a batch.
     * @param maxDelay Maximum wait of a call for other calls.
     * @param buckets Row counts to which batches are padded, for programs compiled for these sizes. Any number of rows
     *     when empty.
     */
    public record Batching(
            @DefaultValue("false") boolean enabled,
            @DefaultValue("32") int maxSize,
            @DefaultValue("2ms") Duration maxDelay,
            @DefaultValue List<Integer> buckets) {}

    /**
     * Protection of a program with Resilience4j. Each instance is named 'iree.' and the program's name, for
     * configuration through 'resilience4j.*'.
     *
     * @param circuitBreaker Whether to reject calls for a while after too many failures.
     * @param bulkhead Whether to reject calls while too many are in flight.
     * @param timeLimiter Whether to cancel calls that take too long.
     * @param retry Whether to retry calls that failed for a transient reason.
     */
    public record Resilience(
            @DefaultValue("false") boolean circuitBreaker,
            @DefaultValue("false") boolean bulkhead,
            @DefaultValue("false") boolean timeLimiter,
            @DefaultValue("false") boolean retry) {}

    /**
     * The proof required of program files before use.
     *
     * @param require Proof required of all programs: 'checksum' of modules ('sha256' or 'signature'), or 'signature' of
     *     modules and parameter files, which are then read into memory.
     * @param publicKey Location of the Ed25519 key for verifying signatures, in PEM.
     */
    public record Integrity(
            @DefaultValue("none") io.github.iree4j.spring.Integrity.Requirement require,
            @Nullable String publicKey) {}

    /**
     * Executable code embedded in programs.
     *
     * @param allowedFormats Formats of executables allowed to run. All but 'system-elf-*' when empty: shared libraries,
     *     which the operating system loads, must be named explicitly. Native code has all rights of the application;
     *     only 'vmvx-bytecode-fb' confines an untrusted program to a sandbox.
     */
    public record Executables(@DefaultValue Set<String> allowedFormats) {}

    /**
     * The workers of the runtime.
     *
     * @param workers Number of workers. Zero for a worker per group of the topology.
     * @param topology Placement of workers: 'auto' for each core available to the process, a selection such as 'max=8
     *     nodes=0', or groups of processors such as 'cpus=0,8; cpus=1,9'.
     */
    public record Task(
            @DefaultValue("0") int workers,
            @DefaultValue("auto") String topology) {}

    /**
     * Calls of functions.
     *
     * @param timeout Maximum duration of a call. Zero for no limit.
     * @param drainTimeout Maximum time for calls in flight after the application stops, or after their program is
     *     unloaded or replaced. Calls are then cancelled.
     */
    public record Invocation(
            @DefaultValue("60s") Duration timeout,
            @DefaultValue("20s") Duration drainTimeout) {}

    /**
     * Loading of programs.
     *
     * @param timeout Maximum time to load a program, warm-up calls included. Zero for no limit.
     * @param onChange Reaction to changed contents of a file used in place by a program. After such a change, calls
     *     fail and the application is not ready. 'reload' loads the program again once the file has stayed unchanged
     *     for five checks of the watchdog.
     */
    public record Loading(
            @DefaultValue("10m") Duration timeout,
            @DefaultValue("fail") OnChange onChange) {}

    /**
     * Reports of calls, operations and devices that do not advance.
     *
     * @param enabled Whether to look for calls, operations and devices that do not advance.
     * @param after Time without progress after which a call, an operation or a device is reported.
     * @param interval Interval between checks.
     */
    public record Watchdog(
            @DefaultValue("true") boolean enabled,
            @DefaultValue("30s") Duration after,
            @DefaultValue("1s") Duration interval) {}

    /**
     * Results that are not closed.
     *
     * @param trace Whether to record the place of creation of each result, for reports of results that are never
     *     closed. Costs a stack walk per result.
     */
    public record Leaks(@DefaultValue("false") boolean trace) {}

    /**
     * The flight recorder.
     *
     * @param enabled Whether to record the actions of the scheduler and the pools.
     * @param file File receiving all records as well, from the oldest on. None when not set.
     * @param dispatches Of so many executions of a function one records the times of its dispatches, beginning with the
     *     first: 1 for all executions, 0 for none.
     */
    public record Recorder(
            @DefaultValue("false") boolean enabled,
            @Nullable String file,
            @DefaultValue("16") int dispatches) {}

    /**
     * Rarely used properties: the defaults are measured, or the configured feature is rarely used.
     *
     * @param devices Devices by name.
     * @param queues Named queues of devices, for injection.
     * @param pools Memory of devices by device name.
     * @param modules Compiled programs by name.
     * @param task Workers running compiled CPU code and resuming waiting calls.
     * @param frontier Tracking of the order of work.
     * @param recorder The flight recorder.
     */
    public record Advanced(
            @DefaultValue Map<String, Device> devices,
            @DefaultValue Map<String, Queue> queues,
            @DefaultValue Map<String, Pool> pools,
            @DefaultValue Map<String, Module> modules,
            @DefaultValue Task task,
            @DefaultValue Frontier frontier,
            @DefaultValue Recorder recorder) {

        /** Returns the properties of a device, by the device's name. */
        Device device(String name) {
            return devices.getOrDefault(name, Device.DEFAULT);
        }

        /** Returns the properties of a device's memory, by the device's name. */
        Pool pool(String device) {
            return pools.getOrDefault(device, Pool.DEFAULT);
        }

        /** Returns whether calls of a program may overlap. */
        boolean overlappingCalls(String program) {
            Module module = modules.get(program);
            return module != null && module.overlappingCalls();
        }

        /**
         * A device.
         *
         * @param queueCount Number of queues, at least as many as used by 'iree.advanced.queues'. Zero for the device's
         *     own number: a single queue on the CPU, elsewhere a queue for each hardware queue.
         * @param inlineWork Longest work run inline by any submitting thread when nothing else is queued. A thread
         *     waiting for its call also runs work that workers would not end earlier. Zero for none, as event loops
         *     require.
         * @param channel Role of the device in collectives.
         */
        public record Device(
                @DefaultValue("0") int queueCount,
                @DefaultValue("5us") Duration inlineWork,
                @DefaultValue Channel channel) {

            static final Device DEFAULT = new Device(0, Duration.ofNanos(5_000), Channel.DEFAULT);

            /**
             * Role of the device in collectives, for programs leaving the choice to the device.
             *
             * @param id Name of the group. For a group spanning processes, the id made by one process, as 'base64:...'.
             * @param group Name of the group among groups with the same id.
             * @param rank Rank of the device in the group. The lowest free rank when not set.
             * @param count Number of participants. A device without a count is alone.
             */
            public record Channel(
                    @DefaultValue("") String id,
                    @DefaultValue("") String group,
                    @Nullable Integer rank,
                    @Nullable Integer count) {

                static final Channel DEFAULT = new Channel("", "", null, null);
            }
        }

        /**
         * A named queue.
         *
         * @param device Device of the queue. Same as 'iree.device' when not set.
         * @param index Index of the queue on the device, starting at 0.
         */
        public record Queue(
                @Nullable String device, @DefaultValue("0") int index) {}

        /**
         * Memory of a device.
         *
         * @param trim Return of unused memory to the system.
         * @param waiting Time limits of calls waiting for memory.
         */
        public record Pool(
                @DefaultValue Trim trim, @DefaultValue Waiting waiting) {

            static final Pool DEFAULT = new Pool(
                    new Trim(Duration.ofMinutes(1), DataSize.ofMegabytes(256)),
                    new Waiting(Duration.ofSeconds(30), Duration.ofSeconds(1)));

            /**
             * Time limits of calls waiting for memory.
             *
             * @param limit Maximum wait of work for memory before the work fails.
             * @param host Maximum wait of work for memory that only the application can free, by closing results and
             *     tensors.
             */
            public record Waiting(
                    @DefaultValue("30s") Duration limit,
                    @DefaultValue("1s") Duration host) {}

            /**
             * Return of unused memory to the system.
             *
             * @param idleAfter Time for which unused memory is kept for reuse.
             * @param retained Maximum memory kept of unused large blocks, which are allocated individually.
             */
            public record Trim(
                    @DefaultValue("60s") Duration idleAfter,
                    @DefaultValue("256MB") DataSize retained) {}
        }

        /**
         * A program.
         *
         * @param overlappingCalls Whether one call may run while another waits. For programs whose functions keep no
         *     state across waits that another call could change.
         */
        public record Module(@DefaultValue("false") boolean overlappingCalls) {}

        /**
         * Workers running compiled CPU code and resuming waiting calls.
         *
         * @param affinity Whether to pin each worker to the processors of the worker's group.
         */
        public record Task(@DefaultValue("false") boolean affinity) {}

        /**
         * Tracking of the order of work.
         *
         * @param capacity Maximum number of queues in the frontier of an operation, 1 to 255. Beyond this number, older
         *     entries are evicted, and operations needing these entries wait instead.
         */
        public record Frontier(@DefaultValue("12") int capacity) {}

        /**
         * The flight recorder.
         *
         * @param bytes Memory for the most recent records, 1MB to 1GB.
         * @param fileBytes Maximum size of the file, 1MB to 1GB. Further records are counted; operations and calls open at the end take up to 32MB more.
         */
        public record Recorder(
                @DefaultValue("16MB") DataSize bytes,
                @DefaultValue("256MB") DataSize fileBytes) {}
    }
}
