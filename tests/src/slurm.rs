//! A Slurm cluster of several nodes on this machine. The controller and the node daemons of Debian run on the loopback
//! interface, in a separate folder.

use std::fmt::Write as _;
use std::fs;
use std::net::{Ipv4Addr, TcpListener, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The programs that a cluster needs.
const PROGRAMS: [&str; 5] = ["slurmctld", "slurmd", "sbatch", "squeue", "scontrol"];

/// Why a cluster cannot be started here, or `None` if it can.
pub fn obstacle() -> Option<String> {
    if let Some(missing) = PROGRAMS.into_iter().find(|program| find(program).is_none()) {
        return Some(format!("no {missing} on the path: run `cargo xtask setup`"));
    }
    // Daemons listen on the address of the host's name, and clients connect to 127.0.0.1, so the two must be equal.
    let host = output(Command::new("hostname").arg("-s"));
    let found = (host.as_str(), 0).to_socket_addrs();
    let is_loopback = found.is_ok_and(|mut all| all.any(|at| at.ip() == Ipv4Addr::LOCALHOST));
    if !is_loopback {
        return Some(format!("the host's name, {host}, is not that of 127.0.0.1"));
    }
    Cluster::try_start(1, Duration::from_secs(20)).err()
}

/// The path of a program. Debian installs daemons in a folder that is not on users' paths.
fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    folders
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

/// Maximum time for starting a cluster, and for its jobs.
const DEADLINE: Duration = Duration::from_secs(300);

/// A running cluster. Dropping it ends its daemons.
#[derive(Debug)]
pub struct Cluster {
    folder: TempDir,
    nodes: usize,
}

impl Cluster {
    /// Starts a controller and `nodes` nodes with one processor each, and waits until they accept jobs.
    ///
    /// # Panics
    /// If a daemon does not start.
    pub fn start(nodes: usize) -> Cluster {
        Cluster::try_start(nodes, DEADLINE).unwrap_or_else(|why| panic!("{why}"))
    }

    fn try_start(nodes: usize, deadline: Duration) -> Result<Cluster, String> {
        let folder = tempfile::Builder::new()
            .prefix("kiln-slurm-")
            .tempdir()
            .expect("a temporary directory should be had");
        let cluster = Cluster { folder, nodes };
        for name in ["state", "spool", "run", "log"] {
            fs::create_dir(cluster.path().join(name)).expect("a folder should be made");
        }
        fs::write(cluster.config(), cluster.configuration()).expect("a file should be written");
        cluster.run("slurmctld", &[])?;
        for node in 1..=nodes {
            cluster.run("slurmd", &["-N", &name(node)])?;
        }
        let start = Instant::now();
        while cluster.idle() < nodes {
            if start.elapsed() > deadline {
                return Err(format!("Slurm's nodes do not come up\n{}", cluster.logs()));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(cluster)
    }

    /// The folder of the cluster's files.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    fn config(&self) -> PathBuf {
        self.path().join("slurm.conf")
    }

    /// Kills the controller, as a crash would.
    pub fn kill_controller(&self) {
        signal(self.pid("slurmctld"), "-KILL");
    }

    /// Starts the controller again.
    ///
    /// # Panics
    /// If the controller does not start.
    pub fn start_controller(&self) {
        self.run("slurmctld", &[])
            .unwrap_or_else(|why| panic!("{why}"));
    }

    /// Starts a node again.
    ///
    /// # Panics
    /// If the node does not start.
    pub fn start_node(&self, node: usize) {
        let started = self.run("slurmd", &["-N", &name(node)]);
        started.unwrap_or_else(|why| panic!("{why}"));
    }

    /// Does what an operator does after failures: resumes drained nodes, and cancels held jobs, which Slurm could not
    /// start. Such jobs must be submitted again.
    pub fn repair(&self) {
        let nodes = format!("NodeName=n[1-{}]", self.nodes);
        let mut resume = self.command("scontrol");
        // This command fails if there is nothing to resume.
        let _ = resume.args(["update", &nodes, "State=RESUME"]).output();
        let mut queue = self.command("squeue");
        let held = queue
            .args(["--noheader", "--array", "--format=%i %r"])
            .output();
        let held = held.expect("squeue should start").stdout;
        let held = String::from_utf8_lossy(&held).into_owned();
        let held = held
            .lines()
            .filter(|line| line.to_lowercase().contains("held"));
        let held: Vec<&str> = held.filter_map(|line| line.split(' ').next()).collect();
        if !held.is_empty() {
            let _ = self.command("scancel").args(held).output();
        }
    }

    /// Kills the process of a node's job, as the operating system does when memory is short. Returns `false` if the
    /// node runs none.
    pub fn kill_task(&self, node: usize) -> bool {
        let task = self.steps(node).into_iter().find(|pid| is_tune(*pid));
        signal(task, "-KILL");
        task.is_some()
    }

    /// Stops a node's daemon and all processes that it runs, like a network failure. The node does not answer, but no
    /// process has died.
    pub fn stop_node(&self, node: usize) {
        signal(self.pid(&name(node)), "-STOP");
        for step in self.steps(node) {
            signal(Some(step), "-STOP");
        }
    }

    /// Continues the processes of a stopped node's jobs. The node's daemon remains stopped.
    pub fn continue_task(&self, node: usize) {
        for step in self.steps(node) {
            signal(Some(step), "-CONT");
        }
    }

    /// Whether a job on a node still runs `tune`.
    pub fn runs_tune(&self, node: usize) -> bool {
        self.steps(node).into_iter().any(is_tune)
    }

    /// Kills a node and all processes that it runs, as a power failure would.
    pub fn kill_node(&self, node: usize) {
        let pid = self.pid(&name(node));
        // Kills the steps first, because a script that outlives its step reports the step as failed.
        for step in self.steps(node).into_iter().rev() {
            signal(Some(step), "-KILL");
        }
        signal(pid, "-KILL");
    }

    /// The processes of jobs on a node. Parents precede their children.
    fn steps(&self, node: usize) -> Vec<u32> {
        let spool = self.path().join("spool").join(format!("n{node}"));
        let marks = [
            format!("SLURMD_NODENAME=n{node}"),
            spool.to_string_lossy().into_owned(),
        ];
        let of_node = |pid: u32| {
            let read = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
            let text = [read("environ"), read("cmdline")].concat();
            let text = String::from_utf8_lossy(&text).into_owned();
            let in_cluster =
                text.contains(&*self.config().to_string_lossy()) || text.contains(&marks[1]);
            in_cluster && (text.contains(&marks[0]) || text.contains(&marks[1]))
        };
        let processes = fs::read_dir("/proc")
            .expect("/proc should be there")
            .flatten();
        let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let mut pids: Vec<u32> = pids.filter(|pid| of_node(*pid)).collect();
        pids.retain(|pid| Some(*pid) != self.pid(&name(node)));
        pids.sort_unstable();
        pids
    }

    /// A Slurm command that talks to this cluster.
    pub fn command(&self, program: &str) -> Command {
        let program = find(program).unwrap_or_else(|| program.into());
        let mut command = Command::new(program);
        command.env("SLURM_CONF", self.config());
        command
    }

    /// Submits a job script, and returns the number of the job.
    ///
    /// # Panics
    /// If Slurm does not accept the job.
    pub fn submit(&self, script: &Path, arguments: &[&str]) -> String {
        let mut sbatch = self.command("sbatch");
        sbatch.arg("--parsable").args(arguments).arg(script);
        let output = sbatch.output().expect("sbatch should start");
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        assert!(
            output.status.success(),
            "{}{}",
            String::from_utf8_lossy(&output.stderr),
            self.logs()
        );
        said
    }

    /// Waits until no job is queued or running.
    ///
    /// # Panics
    /// If this takes too long.
    pub fn wait(&self) {
        self.wait_for(DEADLINE);
    }

    /// Waits until no job is queued or running, with a different deadline.
    ///
    /// # Panics
    /// If this takes longer than the deadline.
    pub fn wait_for(&self, deadline: Duration) {
        let start = Instant::now();
        while self.is_busy() {
            assert!(start.elapsed() < deadline, "{}", self.logs());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Whether a job is queued or running, or the controller does not respond.
    ///
    /// # Panics
    /// If `squeue` does not start.
    pub fn is_busy(&self) -> bool {
        let output = self.command("squeue").arg("--noheader").output();
        let output = output.expect("squeue should start");
        !output.status.success() || !output.stdout.iter().all(u8::is_ascii_whitespace)
    }

    /// The number of nodes that wait for jobs.
    fn idle(&self) -> usize {
        let mut sinfo = self.command("sinfo");
        let output = sinfo.args(["--noheader", "--Node", "--format=%t"]).output();
        let said = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        let lines = said.unwrap_or_default();
        lines.lines().filter(|line| line.trim() == "idle").count()
    }

    /// Starts a daemon.
    fn run(&self, program: &str, arguments: &[&str]) -> Result<(), String> {
        let mut command = self.command(program);
        command.arg("-f").arg(self.config()).args(arguments);
        // A daemon keeps the files that it inherits, so the output of a pipe would never end.
        let log = fs::File::create(self.path().join("log").join(format!("{program}.start")));
        let log = log.expect("a file should be made");
        command
            .current_dir(self.path())
            .stdout(Stdio::null())
            .stderr(log);
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("{program}: {status}\n{}", self.logs())),
            Err(error) => Err(format!("{program}: {error}")),
        }
    }

    fn pid(&self, name: &str) -> Option<u32> {
        let file = self.path().join("run").join(format!("{name}.pid"));
        fs::read_to_string(file).ok()?.trim().parse().ok()
    }

    /// The last lines of all logs, for error messages.
    fn logs(&self) -> String {
        let mut text = String::new();
        let folder = fs::read_dir(self.path().join("log"));
        for entry in folder.into_iter().flatten().flatten() {
            let log = fs::read_to_string(entry.path()).unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            let last = lines[lines.len().saturating_sub(10)..].join("\n");
            let _ = writeln!(text, "--- {}\n{last}", entry.path().display());
        }
        text
    }

    /// The configuration of a test cluster: one processor per node, no accounting, no authentication, all on loopback.
    fn configuration(&self) -> String {
        let host = output(Command::new("hostname").arg("-s"));
        let user = output(Command::new("id").arg("-un"));
        let folder = self.path().display();
        // All listeners exist at the same time, so the ports differ.
        let listeners: Vec<TcpListener> = (0..=self.nodes)
            .map(|_| TcpListener::bind("127.0.0.1:0").expect("a port should be free"))
            .collect();
        let port = |number: usize| listeners[number].local_addr().map_or(0, |at| at.port());
        let mut text = format!(
            "ClusterName=kiln\n\
             SlurmctldHost={host}(127.0.0.1)\n\
             SlurmctldPort={}\n\
             CommunicationParameters=NoInAddrAny,NoCtldInAddrAny\n\
             SlurmUser={user}\nSlurmdUser={user}\n\
             AuthType=auth/none\nCredType=cred/none\nAuthInfo=cred_expire=5\n\
             StateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/spool/%n\n\
             SlurmctldPidFile={folder}/run/slurmctld.pid\nSlurmdPidFile={folder}/run/%n.pid\n\
             SlurmctldLogFile={folder}/log/slurmctld.log\nSlurmdLogFile={folder}/log/%n.log\n\
             ProctrackType=proctrack/pgid\nTaskPlugin=task/none\nSwitchType=switch/none\nMpiDefault=none\n\
             ReturnToService=2\nSlurmctldTimeout=10\nSlurmdTimeout=10\nMessageTimeout=10\nKillWait=2\n\
             SchedulerType=sched/backfill\n\
             SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2,sched_min_interval=0\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nJobRequeue=1\nMaxArraySize=10001\n\
             JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\n\
             PropagateResourceLimits=NONE\n",
            port(0)
        );
        for node in 1..=self.nodes {
            let _ = writeln!(
                text,
                "NodeName=n{node} NodeHostname={host} NodeAddr=127.0.0.1 Port={} CPUs=1 RealMemory=500 State=UNKNOWN",
                port(node)
            );
        }
        let _ = writeln!(
            text,
            "PartitionName=all Nodes=n[1-{}] Default=YES MaxTime=INFINITE State=UP",
            self.nodes
        );
        text
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.kill_controller();
        for node in 1..=self.nodes {
            self.kill_node(node);
        }
    }
}

/// The name of a node.
fn name(node: usize) -> String {
    format!("n{node}")
}

/// Whether a process is `tune fleet work`, which works on one element (one part of a plan).
fn is_tune(pid: u32) -> bool {
    let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<&[u8]> = command.split(|byte| *byte == 0).collect();
    words.first().is_some_and(|word| word.ends_with(b"/tune"))
        && words.get(1..3) == Some(&[b"fleet".as_slice(), b"work".as_slice()])
}

fn signal(pid: Option<u32>, signal: &str) {
    if let Some(pid) = pid {
        // The process may have ended already.
        let _ = Command::new("kill")
            .args([signal, &pid.to_string()])
            .stderr(Stdio::null())
            .status();
    }
}

fn output(command: &mut Command) -> String {
    let output: Output = command.output().expect("a program should start");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
