package io.github.iree4j.cluster.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.opentest4j.TestAbortedException;

/**
 * Machines of a network made by this process, as network namespaces of Linux: each has a single interface, on the
 * bridge of another namespace, and no way to the outside. Needs no root on systems with user namespaces for everybody.
 * The namespaces end with this process, in every way.
 */
final class Namespaces implements AutoCloseable {
    private static final String READY = "ready";
    private static final String HOLD = "echo " + READY + "; read end";

    private final List<Process> holders = new ArrayList<>(); // of the bridge, then of the machines

    /**
     * Makes machines with links to each other.
     *
     * @throws TestAbortedException where impossible, with the cause
     * @throws IOException instead, with {@code -Diree4j.test.namespaces=true}: on machines where it must be possible
     */
    Namespaces(int machines) throws IOException, InterruptedException {
        try {
            hold(List.of("unshare", "--user", "--map-root-user", "--net", "sh", "-c", HOLD));
            run(0, "ip", "link", "add", "bridge", "type", "bridge");
            run(0, "ip", "link", "set", "bridge", "up");
            for (int machine = 1; machine <= machines; machine++) {
                List<String> command = in(0);
                command.addAll(List.of("unshare", "--net", "sh", "-c", HOLD));
                Process holder = hold(command);
                String link = link(machine);
                String other = String.valueOf(holder.pid());
                run(0, "ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", other);
                run(0, "ip", "link", "set", link, "master", "bridge", "up");
                run(machine, "ip", "address", "add", address(machine) + "/24", "dev", "eth0");
                run(machine, "ip", "link", "set", "lo", "up");
                run(machine, "ip", "link", "set", "eth0", "up");
            }
        } catch (IOException e) {
            close();
            String cause = "no network namespaces here: " + e.getMessage();
            System.out.println("skipped: " + cause);
            if (Boolean.getBoolean("iree4j.test.namespaces")) {
                throw e;
            }
            throw new TestAbortedException(cause, e);
        }
    }

    private Process hold(List<String> command) throws IOException {
        Process holder = new ProcessBuilder(command).redirectErrorStream(true).start();
        holders.add(holder);
        String line = holder.inputReader(StandardCharsets.UTF_8).readLine();
        if (!READY.equals(line)) {
            throw new IOException(String.join(" ", command) + ": " + line);
        }
        return holder;
    }

    private void run(int machine, String... words) throws IOException, InterruptedException {
        List<String> command = in(machine);
        command.addAll(List.of(words));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException(String.join(" ", words) + ": " + output.strip());
        }
    }

    private static String link(int machine) {
        return "machine" + machine;
    }

    /** The prefix for a command on a machine, from 1; the process of the prefix becomes the command. */
    List<String> in(int machine) {
        return new ArrayList<>(List.of(
                "nsenter",
                "--target",
                String.valueOf(holders.get(machine).pid()),
                "--user",
                "--net",
                "--preserve-credentials"));
    }

    static String address(int machine) {
        return "10.89.0." + machine;
    }

    /** Takes a machine off the network: packets vanish both ways, and neither side is told. */
    void cut(int machine) throws IOException, InterruptedException {
        run(0, "ip", "link", "set", link(machine), "nomaster");
    }

    /** Takes the cable out: as a cut, and the machine sees the carrier gone. */
    void unplug(int machine) throws IOException, InterruptedException {
        run(0, "ip", "link", "set", link(machine), "down");
    }

    /** Isolates machines from each other; all others still reach each of them. */
    void part(int one, int other) throws IOException, InterruptedException {
        for (int machine : new int[] {one, other}) {
            run(0, "ip", "link", "set", link(machine), "type", "bridge_slave", "isolated", "on");
        }
    }

    /**
     * Drops frames from a machine to another, without notice to the sender; frames of the other direction still arrive.
     */
    void block(int machine, int other) throws IOException, InterruptedException {
        String nowhere = "02:00:00:00:00:01";
        run(machine, "ip", "neighbor", "replace", address(other), "lladdr", nowhere, "nud", "permanent", "dev", "eth0");
    }

    /** Undoes {@link #block}. */
    void unblock(int machine, int other) throws IOException, InterruptedException {
        run(machine, "ip", "neighbor", "delete", address(other), "dev", "eth0");
    }

    /** Limits the rate of a machine, both ways, for example "20mbit"; each way a queue of 50 ms. */
    void slow(int machine, String rate) throws IOException, InterruptedException {
        String[] limit = {"root", "tbf", "rate", rate, "burst", "64kb", "latency", "50ms"};
        List<String> receives = new ArrayList<>(List.of("tc", "qdisc", "replace", "dev", link(machine)));
        receives.addAll(List.of(limit));
        run(0, receives.toArray(String[]::new));
        List<String> sends = new ArrayList<>(List.of("tc", "qdisc", "replace", "dev", "eth0"));
        sends.addAll(List.of(limit));
        run(machine, sends.toArray(String[]::new));
    }

    /** Undoes all changes to the links and the sending of a machine, except the rate. */
    void heal(int machine) throws IOException, InterruptedException {
        run(0, "ip", "link", "set", link(machine), "master", "bridge", "up");
        run(0, "ip", "link", "set", link(machine), "type", "bridge_slave", "isolated", "off");
        run(machine, "ip", "neighbor", "flush", "dev", "eth0", "nud", "permanent");
    }

    @Override
    public void close() {
        for (Process holder : holders.reversed()) {
            holder.destroyForcibly();
            try {
                holder.waitFor(10, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
