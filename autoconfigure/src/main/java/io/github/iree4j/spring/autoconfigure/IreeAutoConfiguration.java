package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.DeviceSource;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.NativeCode;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.RuntimeBuilder;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.flight.FlightRecorder;
import io.github.iree4j.flight.RecorderOptions;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.monitor.CallListener;
import io.github.iree4j.monitor.VariantListener;
import io.github.iree4j.spring.Integrity;
import io.github.iree4j.spring.InvocationInterceptor;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.IreeEvents;
import io.github.iree4j.spring.LoadPolicy;
import io.github.iree4j.spring.OnChange;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.problems.ProblemFinder;
import io.github.iree4j.spring.problems.ProblemSource;
import io.github.iree4j.spring.problems.ShortageProblems;
import io.github.iree4j.spring.problems.Watchdog;
import io.github.iree4j.status.FileKind;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.PublicKey;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.availability.ApplicationAvailabilityAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.availability.ApplicationAvailability;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.io.ApplicationResourceLoader;
import org.springframework.boot.thread.Threading;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Fallback;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.core.env.Environment;
import org.springframework.core.io.Resource;
import org.springframework.core.io.ResourceLoader;
import org.springframework.core.metrics.StartupStep;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;
import org.springframework.util.StringUtils;

/** {@link AutoConfiguration Auto-configuration} for the runtime, the programs of {@code iree.modules} and the service calling the programs. */
@AutoConfiguration(after = ApplicationAvailabilityAutoConfiguration.class)
@ConditionalOnClass(IreeRuntime.class)
@ConditionalOnBooleanProperty(name = "iree.enabled", matchIfMissing = true)
@EnableConfigurationProperties({IreeProperties.class, IreeNativeProperties.class})
@Import({
    IreeNamedBeansRegistrar.class,
    IreeProgramAliases.class,
    StoppingServers.WebConfiguration.class,
    StoppingServers.TomcatConfiguration.class
})
@ImportRuntimeHints(IreeRuntimeHints.class)
public final class IreeAutoConfiguration {

    private static final String LIBRARY = "library-path";

    private static final String KEY = "iree.integrity.public-key";

    /** For Spring. */
    IreeAutoConfiguration(IreeProperties properties) {
        properties.checkRanges();
    }

    @Bean
    @ConditionalOnMissingBean
    SchedulingDomain ireeSchedulingDomain(IreeProperties properties) {
        int capacity = properties.advanced().frontier().capacity();
        if (capacity < 1 || capacity > Frontier.MAXIMUM_CAPACITY) {
            throw new InvalidConfigurationPropertyValueException(
                    "iree.advanced.frontier.capacity",
                    capacity,
                    "It must be within [1, %d].".formatted(Frontier.MAXIMUM_CAPACITY));
        }
        return capacity == SchedulingDomain.ofProcess().frontierCapacity()
                ? SchedulingDomain.ofProcess()
                : SchedulingDomain.create(AxisAllocator.ofProcess(), FrontierTracker.create(), capacity);
    }

    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    @ConditionalOnBooleanProperty("iree.recorder.enabled")
    FlightRecorder ireeFlightRecorder(SchedulingDomain domain, IreeProperties properties) {
        IreeProperties.Recorder recorder = properties.recorder();
        IreeProperties.Advanced.Recorder sizes = properties.advanced().recorder();
        RecorderOptions options = RecorderOptions.DEFAULTS;
        try {
            options = options.withBytes(sizes.bytes().toBytes());
        } catch (IreeException e) {
            throw new InvalidConfigurationPropertyValueException(
                    "iree.advanced.recorder.bytes", sizes.bytes(), String.valueOf(e.getMessage()));
        }
        try {
            options = options.withDispatches(recorder.dispatches());
        } catch (IreeException e) {
            throw new InvalidConfigurationPropertyValueException(
                    "iree.recorder.dispatches", recorder.dispatches(), String.valueOf(e.getMessage()));
        }
        if (recorder.file() != null) {
            Path directory = Path.of(recorder.file()).toAbsolutePath().getParent();
            if (directory != null && !Files.isDirectory(directory)) {
                throw new InvalidConfigurationPropertyValueException(
                        "iree.recorder.file",
                        recorder.file(),
                        "There is no directory '%s'. Create it, or name a file in a directory that exists and is writable."
                                .formatted(directory));
            }
            try {
                options = options.withFile(
                        Path.of(recorder.file()), sizes.fileBytes().toBytes());
            } catch (IreeException e) {
                throw new InvalidConfigurationPropertyValueException(
                        "iree.advanced.recorder.file-bytes", sizes.fileBytes(), String.valueOf(e.getMessage()));
            }
        }
        try {
            return FlightRecorder.open(domain, options);
        } catch (IOException e) {
            throw cannotBeWritten(recorder.file(), e);
        } catch (IreeException e) {
            throw e.code() == StatusCode.INVALID_ARGUMENT ? cannotBeWritten(recorder.file(), e) : e;
        }
    }

    private static InvalidConfigurationPropertyValueException cannotBeWritten(@Nullable String file, Exception e) {
        return new InvalidConfigurationPropertyValueException(
                "iree.recorder.file",
                file,
                "It cannot be written (%s). Name a file in a directory that exists and is writable.".formatted(e));
    }

    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    IreeRuntime ireeRuntime(
            IreeProperties properties,
            IreeNativeProperties nativeCode,
            SchedulingDomain domain,
            Environment environment,
            ObjectProvider<IreeDeviceCustomizer> deviceCustomizers,
            ObjectProvider<IreeRuntimeCustomizer> customizers,
            ObjectProvider<FlightRecorder> recorder) {
        // opened here: records from before the devices open until after the devices close
        recorder.ifAvailable(_ -> {});
        nativeLibrary(LIBRARY, nativeCode.libraryPath(), NativeCode::useLibrary);
        nativeLibrary("extract-dir", nativeCode.extractDir(), NativeCode::copyLibraryTo);
        if (nativeCode.libraryPath() != null) {
            requireLoadable(nativeCode.libraryPath());
        }
        new UnknownProperties(getClass().getClassLoader()).warn(environment, properties.modules());
        PropertyChecks checks = new PropertyChecks(properties);
        checks.devices();
        checks.warn(environment);
        StopTimes times = StopTimes.of(environment);
        checks.warnOfDraining(
                times,
                Binder.get(environment)
                        .bind("iree.invocation.drain-timeout", Duration.class)
                        .orElse(null));
        RuntimeProperties mapping = new RuntimeProperties(
                properties, domain, deviceCustomizers.orderedStream().toList());
        RuntimeBuilder builder = IreeRuntime.builder();
        mapping.apply(builder);
        builder.traceLeaks(properties.leaks().trace()).closeTimeout(times.closing());
        customizers.orderedStream().forEach(customizer -> customizer.customize(builder));
        try {
            IreeRuntime runtime = builder.build();
            checks.warnOfFormats(runtime.devices());
            checks.warnOfMissingNativeCode(runtime.devices());
            return runtime;
        } catch (IreeException e) {
            throw new RuntimeOpenException(
                    builder.devices().stream().map(DeviceSource::uri).toList(), e);
        }
    }

    /** Requires a loadable library: programs with a form without native code would silently use that form. */
    private static void requireLoadable(String path) {
        NativeCode.unavailabilityCause().ifPresent(cause -> {
            throw PropertyChecks.invalid(
                    "iree.native." + LIBRARY,
                    path,
                    "%s. Correct it, or remove the property to use the library in the class path."
                            .formatted(StringUtils.capitalize(String.valueOf(cause.getMessage()))));
        });
    }

    private static void nativeLibrary(String property, @Nullable String path, Consumer<Path> use) {
        if (path == null) {
            return;
        }
        try {
            if (property.equals(LIBRARY)
                    && !Files.exists(Path.of(path))) { // programs may have a form without native code
                throw PropertyChecks.invalid("iree.native." + property, path, "There is no such file or directory.");
            }
            use.accept(Path.of(path));
        } catch (IreeException | InvalidPathException e) {
            throw PropertyChecks.invalid(
                    "iree.native." + property, path, StringUtils.capitalize(String.valueOf(e.getMessage())) + ".");
        }
    }

    private static Consumer<ProgramOptions.Builder> listening(List<CallListener> all) {
        return options -> {
            if (!all.isEmpty()) {
                options.callListener((call, caller) -> all.forEach(each -> each.begins(call, caller)));
            }
        };
    }

    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    Programs ireePrograms(
            IreeRuntime runtime,
            IreeProperties properties,
            ResourceLoader resources,
            ProgramStatusPublisher publisher,
            ConfigurableListableBeanFactory beans,
            ObjectProvider<IreeModuleCustomizer> customizers,
            ObjectProvider<VariantListener> listeners,
            ObjectProvider<CallListener> callListeners,
            Environment environment) {
        ResourceLoader files = ApplicationResourceLoader.get(resources, true);
        Programs programs = new Programs(
                runtime,
                files,
                publisher,
                new JavaModuleBeans(beans)
                        .andThen(new VariantListeners(listeners.orderedStream().toList()))
                        .andThen(listening(callListeners.orderedStream().toList())),
                integrity(properties.integrity(), files));
        programs.setLoadTimeout(properties.loading().timeout());
        programs.setCallTimeouts(properties.invocation().timeout(), properties.callTimeouts());
        programs.setDrainTimeout(properties.invocation().drainTimeout());
        programs.setCloseTimeout(StopTimes.of(environment).cancelling());
        ProgramSources sources =
                new ProgramSources(properties, customizers.orderedStream().toList());
        try {
            properties.modules().forEach((name, module) -> {
                for (ProgramSource source : sources.of(name, module)) {
                    programs.define(source);
                    if (module.load() == LoadPolicy.EAGER) {
                        StartupStep step = beans.getApplicationStartup()
                                .start("iree.modules.load")
                                .tag("module", name)
                                .tag("version", source.version());
                        programs.load(source);
                        step.end();
                    }
                }
            });
        } catch (RuntimeException e) {
            programs.close();
            throw e;
        }
        return programs;
    }

    private static Integrity integrity(IreeProperties.Integrity properties, ResourceLoader files) {
        String location = properties.publicKey();
        try {
            PublicKey key = null;
            if (location != null) {
                Resource file = files.getResource(location);
                if (file.isFile()) {
                    FileKind.requireRegular("public key", file.getFile().toPath());
                }
                key = Integrity.key(file.getContentAsString(StandardCharsets.US_ASCII));
            }
            return new Integrity(properties.require(), key);
        } catch (IOException | IreeException e) {
            throw new InvalidConfigurationPropertyValueException(
                    KEY,
                    location,
                    "It cannot be read: %s. It is the location of an Ed25519 public key in PEM.".formatted(e));
        } catch (IllegalArgumentException e) {
            throw new InvalidConfigurationPropertyValueException(
                    location == null ? "iree.integrity.require" : KEY,
                    location == null ? properties.require() : location,
                    "%s. Set '%s' to the location of an Ed25519 public key in PEM."
                            .formatted(StringUtils.capitalize(String.valueOf(e.getMessage())), KEY));
        }
    }

    @Bean
    @ConditionalOnMissingBean(name = "ireeQuotaCheck")
    QuotaCheck ireeQuotaCheck(IreeProperties properties, Programs programs, IreeRuntime runtime) {
        return new QuotaCheck(properties, programs, runtime);
    }

    /** Gives way to an application's {@code InvocationOperations}, a stub for example, where these are injected. */
    @Bean
    @Fallback
    @ConditionalOnMissingBean
    InvocationService ireeInvocationService(Programs programs, ObjectProvider<InvocationInterceptor> interceptors) {
        return new InvocationService(programs, interceptors.orderedStream().toList());
    }

    @Bean
    @ConditionalOnMissingBean
    IreeEvents ireeEvents() {
        return new IreeEvents();
    }

    @Bean
    @ConditionalOnMissingBean(name = "ireeProgramStatusPublisher")
    ProgramStatusPublisher ireeProgramStatusPublisher(IreeEvents events, ApplicationEventPublisher publisher) {
        return new ProgramStatusPublisher(events, publisher);
    }

    @Bean
    @ConditionalOnMissingBean(name = "ireeLifecycle")
    IreeLifecycle ireeLifecycle(
            IreeRuntime runtime,
            Programs programs,
            InvocationService invocations,
            IreeEvents events,
            IreeProperties properties,
            Environment environment) {
        return new IreeLifecycle(
                runtime,
                programs,
                invocations,
                events,
                executor("iree-lifecycle-", environment),
                properties.backgroundModules(),
                StopTimes.of(environment).within(properties.invocation().drainTimeout()));
    }

    @Bean
    @ConditionalOnBean(IreeLifecycle.class)
    @ConditionalOnMissingBean
    IreeStopping ireeStopping(IreeLifecycle lifecycle, ApplicationContext context) {
        return new IreeStopping(lifecycle, context);
    }

    @Bean
    @ConditionalOnMissingBean
    ShortageProblems ireeShortageProblems(IreeRuntime runtime) {
        return new ShortageProblems(runtime);
    }

    @Bean
    @ConditionalOnMissingBean
    ProblemFinder ireeProblemFinder(
            IreeRuntime runtime,
            Programs programs,
            InvocationService invocations,
            ObjectProvider<ProblemSource> sources) {
        return new ProblemFinder(runtime, programs, invocations, sources);
    }

    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    @ConditionalOnBooleanProperty(name = "iree.watchdog.enabled", matchIfMissing = true)
    Watchdog ireeWatchdog(
            ProblemFinder finder,
            Programs programs,
            IreeEvents events,
            IreeProperties properties,
            ObjectProvider<ReadinessGate> gate,
            ApplicationEventPublisher publisher,
            Environment environment) {
        SimpleAsyncTaskScheduler scheduler = new SimpleAsyncTaskScheduler();
        scheduler.setThreadNamePrefix("iree-watchdog-");
        scheduler.setVirtualThreads(Threading.VIRTUAL.isActive(environment));
        scheduler.setDaemon(true);
        return new Watchdog(
                finder,
                properties.watchdog().after(),
                properties.watchdog().interval(),
                events,
                publisher,
                scheduler,
                System::nanoTime,
                refuse -> gate.ifAvailable(each -> each.refuse(refuse)),
                properties.loading().onChange() == OnChange.RELOAD
                        ? new ChangedFileReload(programs, executor("iree-reload-", environment))
                        : _ -> {});
    }

    private static SimpleAsyncTaskExecutor executor(String threads, Environment environment) {
        SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor(threads);
        executor.setVirtualThreads(Threading.VIRTUAL.isActive(environment));
        executor.setDaemon(true);
        return executor;
    }

    @Bean
    @ConditionalOnMissingBean(name = "ireeDeviceWatch")
    DeviceWatch ireeDeviceWatch(
            IreeRuntime runtime, IreeEvents events, ApplicationEventPublisher publisher, Environment environment) {
        return new DeviceWatch(runtime, events, publisher, executor("iree-device-", environment));
    }

    @Bean
    @ConditionalOnMissingBean(name = "ireeReadinessGate")
    @ConditionalOnBean(ApplicationAvailability.class)
    ReadinessGate ireeReadinessGate(
            ApplicationAvailability availability,
            ObjectProvider<Programs> programs,
            IreeProperties properties,
            ApplicationEventPublisher publisher) {
        return new ReadinessGate(availability, programs, properties.backgroundModules(), publisher);
    }
}
