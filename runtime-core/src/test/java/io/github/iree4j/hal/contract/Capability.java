package io.github.iree4j.hal.contract;

/** What some backends lack. Suites expect something else of them, or skip what needs it, with the cause given here. */
public enum Capability {
    /**
     * Kernels run on the host: they fail with a status of their own, are told sizes and memory of each dispatch, and the host reads counts
     * before they begin.
     */
    HOST_KERNELS("kernels of this device are not functions of the host, which can fail and be told sizes"),

    /** Kernels can fail. Those that do not run on the host fault, and the device is lost with them; once it is closed, another can be opened. */
    FAILING_KERNELS(
            "kernels of this device cannot fail, or would end the process's use of the device, which later tests need"),

    /** Kernels are told the length of each binding. Others are given addresses alone. */
    BINDING_LENGTHS("kernels of this device are given addresses of buffers and no lengths"),

    /** A queue begins later operations while a host call runs. Others wait for it, and only other queues go on. */
    CONCURRENT_HOST_CALLS("queues of this device wait for host calls before they go on"),

    /** Queues are streams of hardware, which count submissions, waits, points and completions, and which a test can hold. */
    STREAMS("queues of this device are not streams of hardware that a test can hold"),

    /** Operations of which the host awaits only the last are reported in one completion: the driver is not woken for each submission. */
    GATHERED_COMPLETIONS("the hardware of this device notifies the host of each operation"),

    /** Memory of the host can be used in place. */
    HOST_IMPORTS("this device does not see memory of the host"),

    /** So can pages of the host that may be read only. Others are refused, and callers copy them. */
    READ_ONLY_IMPORTS("this device does not see read-only memory of the host"),

    /** Devices create channels, and execute collectives. */
    COLLECTIVES("this device has no collectives");

    private final String cause;

    Capability(String cause) {
        this.cause = cause;
    }

    /** Why a test is skipped on a backend without this. */
    String cause() {
        return cause;
    }
}
