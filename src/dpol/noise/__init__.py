"""The client side of the local model: the only place where raw gains become noisy gains."""

from dpol.noise.noises import CAPACITY as CAPACITY
from dpol.noise.noises import CENTRAL_NOISES as CENTRAL_NOISES
from dpol.noise.noises import CONSTANT as CONSTANT
from dpol.noise.noises import ISOTROPIC as ISOTROPIC
from dpol.noise.noises import MEMORY as MEMORY
from dpol.noise.noises import NOISES as NOISES
from dpol.noise.noises import MemoryChoice as MemoryChoice
from dpol.noise.noises import Noise as Noise
from dpol.noise.noises import find_noise as find_noise
from dpol.noise.noises import in_order as in_order
from dpol.noise.noises import module_of_noise as module_of_noise
from dpol.noise.noisy_gains import NoisyGains as NoisyGains
from dpol.noise.noisy_gains import noise_scale as noise_scale
from dpol.noise.noisy_gains import privatize as privatize
from dpol.privacy.guarantee import NO_NOISE as NO_NOISE
